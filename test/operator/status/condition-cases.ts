import type { ReconcileResult } from '../../../operator/status/reconcile-result.ts';
import { allowPolicy, declared, machineClient } from '../declare.ts';
import { resultOf } from '../result-of.ts';

/** A grant that Clients may list and that this version does not have. */
export const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
/** A Client with a generated secret. */
export const client = machineClient('app');
const policy = allowPolicy('p', 'app');
const fault = { path: 'spec.expression', message: 'does not compile' };
const unlisted = { path: 'spec.jwks_uri', message: 'is on a host that is not listed' };
/** The state of a secret that nobody asks for. */
export const none = { state: 'none' } as const;

/** Conditions of a client that has what it wants, and of a policy. */
const granted = [
  'Ready=True/Ready',
  'Valid=True/Accepted',
  'SecretReady=True/SecretGenerated',
  'Synced=True/Applied',
  'Granted=True/PolicyLinked',
];
const resolved = ['Ready=True/Ready', 'Valid=True/Accepted', 'Synced=True/Applied', 'LinksResolved=True/AllFound'];

function withNewer(input: ReconcileResult): ReconcileResult {
  return { ...input, desired: { ...input.desired, validated: { ...input.desired.validated, newer: ['next_year'] } } };
}

/** A client that is pinned to the uid 1. */
function withAccount(seen: string | null): ReconcileResult {
  const service_accounts = [{ namespace: 'shop', name: 'app' }];
  const accounts = [{ namespace: 'shop', name: 'app', uid: '1', index: 0, seen, gone: true }];
  const input = { secret: none, policies: 1, servesServiceAccounts: true, accounts };
  return resultOf(machineClient('app', { service_accounts }), input);
}

function lostAccount(reason: string): string[] {
  return [
    `Ready=False/${reason}`,
    'Valid=True/Accepted',
    `SecretReady=False/${reason}`,
    'Synced=True/Applied',
    'Granted=True/PolicyLinked',
  ];
}

/** An object, and the conditions that it gets, each as `Ready=True/Ready`. */
type ConditionCase = readonly [title: string, input: ReconcileResult, conditions: readonly string[]];

/** Objects of each kind in each of their states. */
export const conditionCases: readonly ConditionCase[] = [
  // E-06: a refused finalizer and a failed pass were told as an API that is away.
  [
    'a client whose finalizer the API server refuses',
    resultOf(client, { policies: 1, refusal: 'the team says no' }),
    ['Ready=False/FinalizerRefused', ...granted.slice(1)],
  ],
  [
    'a policy that a failed pass did not apply',
    resultOf(policy, { row: { digest: '', result: 'failed', faults: [], detail: 'a bug' } }),
    ['Ready=False/NotApplied', 'Valid=True/Accepted', 'Synced=False/NotApplied', 'LinksResolved=True/AllFound'],
  ],
  ['a client that is applied and that a policy concerns', resultOf(client, { policies: 2 }), granted],
  [
    'a new client without a policy is Ready and not granted anything',
    resultOf(client),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=True/Applied',
      'Granted=False/NoPolicy',
    ],
  ],
  [
    'C-02 a client without a grant, which gets no token that a policy could grant something',
    resultOf(declared('Client', 'app', { grant_types: [] })),
    ['Ready=True/Ready', 'Valid=True/Accepted', 'SecretReady=True/SecretGenerated', 'Synced=True/Applied'],
  ],
  [
    'a client with a secret in the manifest',
    resultOf(machineClient('app', { secret: 'chosen' }), { policies: 1 }),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretInline',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
      'InlineSecret=True/SecretInManifest',
    ],
  ],
  [
    'a client whose Secret is not there waits',
    resultOf(machineClient('app', { secretRef: { name: 's', key: 'k' } }), {
      secret: { state: 'missing', reason: 'SecretNotFound', message: 'there is no Secret s' },
      row: 'pending',
    }),
    [
      'Ready=False/SecretNotFound',
      'Valid=True/Accepted',
      'SecretReady=False/SecretNotFound',
      'Synced=False/Waiting',
      'Granted=False/NoPolicy',
    ],
  ],
  [
    'a client whose Secret is gone works on and is not Ready',
    resultOf(machineClient('app', { secretRef: { name: 's', key: 'k' } }), {
      secret: { state: 'missing', reason: 'SecretNotFound', message: 'there is no Secret s' },
      policies: 1,
    }),
    [
      'Ready=False/SecretNotFound',
      'Valid=True/Accepted',
      'SecretReady=False/SecretNotFound',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
    ],
  ],
  [
    'a client with fields that have no effect is Ready, and says so',
    resultOf(machineClient('app', { grant_types: ['client_credentials', tokenExchange] }), { policies: 1 }),
    [...granted, 'NotInForce=True/WithoutEffect'],
  ],
  [
    'a client that lists refresh_token and gets no refresh token is Ready, and says so',
    resultOf(machineClient('app', { grant_types: ['client_credentials', 'refresh_token'] }), { policies: 1 }),
    [...granted, 'NotInForce=True/RefreshNotEnabled'],
  ],
  [
    'a client that lists refresh_token next to fields that have no effect',
    resultOf(machineClient('app', { grant_types: ['client_credentials', 'refresh_token', tokenExchange] }), {
      policies: 1,
    }),
    [...granted, 'NotInForce=True/WithoutEffect'],
  ],
  ...(
    [
      ['jwks_uri', 'https://app.example.com/jwks.json'],
      ['service_accounts', [{ namespace: 'shop', name: 'app' }]],
    ] as const
  ).map(([field, value]): ConditionCase => [
    `a client that has nothing but ${field} to authenticate itself needs no secret`,
    resultOf(machineClient('app', { [field]: value }), {
      policies: 1,
      secret: none,
      servesServiceAccounts: true,
    }),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretNotNeeded',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
    ],
  ]),
  [
    'a client of ServiceAccounts where nothing serves them is not Ready',
    resultOf(machineClient('app', { service_accounts: [{ namespace: 'shop', name: 'app' }] }), {
      policies: 1,
      secret: none,
    }),
    [
      'Ready=False/ServiceAccountsNotServed',
      'Valid=True/Accepted',
      'SecretReady=False/ServiceAccountsNotServed',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
    ],
  ],
  [
    'a client of ServiceAccounts with a secret beside them is Ready where nothing serves them, and says so',
    resultOf(machineClient('app', { service_accounts: [{ namespace: 'shop', name: 'app' }], generateSecret: {} }), {
      policies: 1,
    }),
    [...granted, 'NotInForce=True/WithoutEffect'],
  ],
  [
    'a client that has a secret beside its keys is Ready',
    resultOf(machineClient('app', { jwks_uri: 'https://app.example.com/jwks.json', generateSecret: {} }), {
      policies: 1,
    }),
    granted,
  ],
  [
    'a client whose keys are on a host that is not listed is not Ready, and no change of the object is what it waits for',
    resultOf(machineClient('app', { jwks_uri: 'https://app.example.com/jwks.json' }), {
      policies: 1,
      secret: none,
      unusable: [unlisted],
    }),
    [
      'Ready=False/JwksHostNotListed',
      'Valid=True/Accepted',
      'SecretReady=False/JwksHostNotListed',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
      'NotInForce=True/JwksHostNotListed',
    ],
  ],
  [
    'a client that has a secret beside keys on a host that is not listed is Ready, and says so',
    resultOf(machineClient('app', { jwks_uri: 'https://app.example.com/jwks.json', generateSecret: {} }), {
      policies: 1,
      unusable: [unlisted],
    }),
    [...granted, 'NotInForce=True/JwksHostNotListed'],
  ],
  [
    'a client of ServiceAccounts that are served is Ready beside keys on a host that is not listed, and says so',
    resultOf(
      machineClient('app', {
        jwks_uri: 'https://app.example.com/jwks.json',
        service_accounts: [{ namespace: 'shop', name: 'app' }],
      }),
      { policies: 1, secret: none, servesServiceAccounts: true, unusable: [unlisted] },
    ),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretNotNeeded',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
      'NotInForce=True/JwksHostNotListed',
    ],
  ],
  [
    'a faulty client',
    resultOf(declared('Client', 'app', { grant_types: ['x'] }), { row: 'pending' }),
    ['Ready=False/Invalid', 'Valid=False/Invalid', 'Stalled=True/Invalid', 'Synced=False/Rejected'],
  ],
  [
    'a policy that is too large',
    resultOf(declared('AccessPolicy', 'p', { engine: 'matcho', matcho: { uri: 'x'.repeat(32_768) } })),
    ['Ready=False/TooLarge', 'Valid=False/TooLarge', 'Stalled=True/TooLarge', 'Synced=False/Rejected'],
  ],
  [
    'a client whose id an older object has',
    resultOf(client, { loses: 'default/older', row: 'pending' }),
    [
      'Ready=False/DeclaredTwice',
      'Valid=True/Accepted',
      'Conflict=True/DeclaredTwice',
      'SecretReady=True/SecretGenerated',
      'Synced=False/Rejected',
      'Granted=False/NoPolicy',
    ],
  ],
  [
    'a client whose id was made over REST',
    resultOf(client, { row: { digest: '', result: 'conflict', faults: [], detail: 'made over REST' } }),
    [
      'Ready=False/OwnedByAnother',
      'Valid=True/Accepted',
      'Conflict=True/OwnedByAnother',
      'SecretReady=True/SecretGenerated',
      'Synced=False/Rejected',
      'Granted=False/NoPolicy',
    ],
  ],
  [
    'a client that the API finds faulty',
    resultOf(client, { row: { digest: '', result: 'invalid', faults: [fault], detail: 'refused' } }),
    [
      'Ready=False/Invalid',
      'Valid=False/Invalid',
      'Stalled=True/Invalid',
      'SecretReady=True/SecretGenerated',
      'Synced=False/Rejected',
      'Granted=False/NoPolicy',
    ],
  ],
  [
    'a suspended client is neither Ready nor not',
    resultOf(machineClient('app', { suspend: true }), { policies: 1 }),
    [
      'Ready=Unknown/Suspended',
      'Valid=True/Accepted',
      'SecretReady=Unknown/Suspended',
      'Synced=Unknown/Suspended',
      'Granted=True/PolicyLinked',
    ],
  ],
  [
    'a client that could not be applied is never Ready meanwhile',
    resultOf(client, { row: 'unreachable' }),
    [
      'Ready=False/Unavailable',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=False/Unavailable',
      'Granted=False/NoPolicy',
    ],
  ],
  ['a policy whose links are all there', resultOf(policy), resolved],
  [
    'a dangling link does not hold a policy back',
    resultOf(policy, { dangling: ['Client/app'] }),
    ['Ready=True/Ready', 'Valid=True/Accepted', 'Synced=True/Applied', 'LinksResolved=False/DanglingLinks'],
  ],
  [
    'a policy whose rule cannot be used is stored and not Ready',
    resultOf(declared('AccessPolicy', 'p', { engine: 'cel', expression: '1 +', subjects: 'authenticated' }), {
      unusable: [fault],
    }),
    [
      'Ready=False/Invalid',
      'Valid=False/Invalid',
      'Stalled=True/Invalid',
      'Synced=True/Applied',
      'LinksResolved=True/AllFound',
    ],
  ],
  [
    'P-06 a policy that links nobody',
    resultOf(declared('AccessPolicy', 'p', { engine: 'allow' })),
    [...resolved, 'NoSubjects=True/NobodyLinked'],
  ],
  [
    'a policy that opens the box to everybody',
    resultOf(declared('AccessPolicy', 'p', { engine: 'allow', subjects: 'anyone' })),
    [...resolved, 'OpenToAll=True/GrantsEverybody'],
  ],
  [
    'a policy for anyone with a token at an app',
    resultOf(declared('AccessPolicy', 'p', { engine: 'allow', subjects: 'anyone', apps: ['orders'] })),
    [...resolved],
  ],
  [
    'R-49 a policy whose rule has no condition',
    resultOf(declared('AccessPolicy', 'p', { engine: 'matcho', matcho: {}, subjects: 'authenticated' })),
    [...resolved, 'GrantsEverything=True/NoCondition'],
  ],
  [
    'R-49 a policy for anyone whose rule has no condition',
    resultOf(declared('AccessPolicy', 'p', { engine: 'json-schema', schema: {}, subjects: 'anyone' })),
    [...resolved, 'OpenToAll=True/GrantsEverybody', 'GrantsEverything=True/NoCondition'],
  ],
  [
    'R-55 a Client with a field that only newer definitions know',
    withNewer(resultOf(client, { policies: 2 })),
    [...granted, 'OperatorOlder=True/NewerFields'],
  ],
  [
    'R-55 a policy with a field that only newer definitions know',
    withNewer(resultOf(policy)),
    [
      'Ready=False/NewerFields',
      'Valid=False/NewerFields',
      'Synced=True/Applied',
      'LinksResolved=True/AllFound',
      'OperatorOlder=True/NewerFields',
    ],
  ],
  ['R-54 a Client whose ServiceAccount was deleted', withAccount(null), lostAccount('ServiceAccountDeleted')],
  ['R-54 a Client whose ServiceAccount was created again', withAccount('9'), lostAccount('ServiceAccountRecreated')],
  [
    'a Box',
    resultOf(declared('Box', 'box', {}), { issuer: 'http://x', clients: 3, policies: 2 }),
    ['Ready=True/Ready', 'Valid=True/Accepted', 'Synced=True/Applied'],
  ],
  [
    'a Box with its Service',
    resultOf(declared('Box', 'box', {}), { service: { state: 'ready' } }),
    ['Ready=True/Ready', 'Valid=True/Accepted', 'Synced=True/Applied', 'ServiceReady=True/ServiceCreated'],
  ],
  [
    'a Box whose Service is somebody else’s',
    resultOf(declared('Box', 'box', {}), {
      service: { state: 'missing', reason: 'ServiceNotOwned', message: 'not touched' },
    }),
    ['Ready=True/Ready', 'Valid=True/Accepted', 'Synced=True/Applied', 'ServiceReady=False/ServiceNotOwned'],
  ],
];
