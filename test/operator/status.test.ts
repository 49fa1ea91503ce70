import { expect } from 'chai';
import { Secret } from '../../api/client/secret.ts';
import type { Declared } from '../../operator/declared.ts';
import { sameFacts, type Facts } from '../../operator/facts.ts';
import type { Desired } from '../../operator/desired.ts';
import type { Condition, ObjectStatus } from '../../operator/object-status.ts';
import { CONDITIONS, NEXT_STEPS, REASONS } from '../../operator/reasons.ts';
import { ConditionPool, stampedConditions, statusOf } from '../../operator/status.ts';
import { allowPolicy, declared, desired, machineClient } from './declare.ts';

const now = '2026-01-01T00:00:00.000Z';
const later = '2026-01-02T00:00:00.000Z';
const ready = { state: 'ready', value: new Secret('x') } as const;
const none = { state: 'none' } as const;

/** Facts about an object that is applied; what of it is different is given by name. */
function facts(object: Declared, fields: Partial<Facts & Desired> = {}): Facts {
  const { secret = object.kind === 'Client' ? ready : none, loses, ...others } = fields;
  return {
    desired: desired(object, { secret, loses }),
    row: 'applied',
    unusable: [],
    policies: 0,
    clients: 0,
    dangling: [],
    issuer: '',
    usage: undefined,
    users: undefined,
    servesServiceAccounts: false,
    ...others,
  };
}

function status(of: Facts, previous: readonly Condition[] = [], time = now): ObjectStatus {
  return statusOf(of, stampedConditions(of, previous, time, new ConditionPool()));
}

/** `Ready=True/Ready`, one for each condition. */
function conditions(of: Facts): string[] {
  return status(of).conditions.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`);
}

const client = machineClient('app');
const policy = allowPolicy('p', 'app');
const fault = { path: 'spec.expression', message: 'does not compile' };

const cases: [title: string, facts: Facts, conditions: string[]][] = [
  [
    'a client that is applied and that a policy concerns',
    facts(client, { policies: 2 }),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
    ],
  ],
  [
    'a new client without a policy is Ready and not granted anything',
    facts(client),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=True/Applied',
      'Granted=False/NoPolicy',
    ],
  ],
  [
    'a client with a secret in the manifest',
    facts(machineClient('app', { secret: 'chosen' }), { policies: 1 }),
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
    facts(machineClient('app', { secretRef: { name: 's', key: 'k' } }), {
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
    facts(machineClient('app', { secretRef: { name: 's', key: 'k' } }), {
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
    facts(machineClient('app', { allowed_origins: ['https://a.example'] }), { policies: 1 }),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
      'NotInForce=True/WithoutEffect',
    ],
  ],
  ...(
    [
      ['jwks_uri', 'https://app.example.com/jwks.json'],
      ['service_accounts', [{ namespace: 'shop', name: 'app' }]],
    ] as const
  ).map(([field, value]): (typeof cases)[number] => [
    `a client that has nothing but ${field} to authenticate itself needs no secret`,
    facts(machineClient('app', { [field]: value }), { policies: 1, secret: none, servesServiceAccounts: true }),
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
    facts(machineClient('app', { service_accounts: [{ namespace: 'shop', name: 'app' }] }), {
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
    facts(machineClient('app', { service_accounts: [{ namespace: 'shop', name: 'app' }], generateSecret: {} }), {
      policies: 1,
    }),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
      'NotInForce=True/WithoutEffect',
    ],
  ],
  [
    'a client that has a secret beside its keys is Ready',
    facts(machineClient('app', { jwks_uri: 'https://app.example.com/jwks.json', generateSecret: {} }), { policies: 1 }),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=True/Applied',
      'Granted=True/PolicyLinked',
    ],
  ],
  [
    'a faulty client',
    facts(declared('Client', 'app', { grant_types: [] }), { row: 'pending' }),
    ['Ready=False/Invalid', 'Valid=False/Invalid', 'Stalled=True/Invalid', 'Synced=False/Rejected'],
  ],
  [
    'a client whose id an older object has',
    facts(client, { loses: 'default/older', row: 'pending' }),
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
    facts(client, { row: { digest: '', result: 'conflict', faults: [], detail: 'made over REST' } }),
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
    facts(client, { row: { digest: '', result: 'invalid', faults: [fault], detail: 'refused' } }),
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
    facts(machineClient('app', { suspend: true }), { policies: 1 }),
    [
      'Ready=Unknown/Suspended',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=Unknown/Suspended',
      'Granted=True/PolicyLinked',
    ],
  ],
  [
    'a client that could not be applied is never Ready meanwhile',
    facts(client, { row: 'unreachable' }),
    [
      'Ready=False/Unavailable',
      'Valid=True/Accepted',
      'SecretReady=True/SecretGenerated',
      'Synced=False/Unavailable',
      'Granted=False/NoPolicy',
    ],
  ],
  [
    'a policy whose links are all there',
    facts(policy),
    ['Ready=True/Ready', 'Valid=True/Accepted', 'Synced=True/Applied', 'LinksResolved=True/AllFound'],
  ],
  [
    'a dangling link does not hold a policy back',
    facts(policy, { dangling: ['Client/app'] }),
    ['Ready=True/Ready', 'Valid=True/Accepted', 'Synced=True/Applied', 'LinksResolved=False/DanglingLinks'],
  ],
  [
    'a policy whose rule cannot be used is stored and not Ready',
    facts(declared('AccessPolicy', 'p', { engine: 'cel', expression: '1 +', subjects: 'authenticated' }), {
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
    facts(declared('AccessPolicy', 'p', { engine: 'allow' })),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'Synced=True/Applied',
      'LinksResolved=True/AllFound',
      'NoSubjects=True/NobodyLinked',
    ],
  ],
  [
    'a policy that opens the box to everybody',
    facts(declared('AccessPolicy', 'p', { engine: 'allow', subjects: 'anyone' })),
    [
      'Ready=True/Ready',
      'Valid=True/Accepted',
      'Synced=True/Applied',
      'LinksResolved=True/AllFound',
      'OpenToAll=True/GrantsEverybody',
    ],
  ],
  [
    'a Box',
    facts(declared('Box', 'box', {}), { issuer: 'http://x', clients: 3, policies: 2 }),
    ['Ready=True/Ready', 'Valid=True/Accepted', 'Synced=True/Applied'],
  ],
];

describe('statusOf', () => {
  for (const [title, of, expected] of cases) {
    it(title, () => {
      expect(conditions(of)).to.deep.equal(expected);
    });
  }

  for (const [title, of] of cases) {
    it(`says what to do where all is not well: ${title}`, () => {
      for (const { type, status: is, reason, message } of status(of).conditions) {
        const step = is === CONDITIONS[type].well ? '' : NEXT_STEPS[reason];
        if (is !== CONDITIONS[type].well) expect(step, `${type}/${reason}`).to.match(/^[A-Z]\w+ .*[^.]$/);
        expect(message.endsWith(step), `${type}: ${message}`).to.equal(true);
      }
    });
  }

  it('says why an object is not Ready with the words of the condition that holds it back', () => {
    const [first] = status(facts(client, { loses: 'default/older' })).conditions;
    expect(first?.message).to.equal(
      'default/older declares the same id and is older. Delete one of the two: the other one has the id then',
    );
  });

  it('names the fields that have no effect, and says what to do where nothing serves ServiceAccounts', () => {
    const service_accounts = [{ namespace: 'shop', name: 'app' }];
    const { conditions } = status(
      facts(machineClient('app', { service_accounts, allowed_origins: [] }), { secret: none }),
    );
    const message = (type: string) => conditions.find((one) => one.type === type)?.message;
    expect(message('NotInForce')).to.contain('no effect in this version: spec.allowed_origins');
    expect(message('Ready')).to.match(/nothing here says who makes the tokens of ServiceAccounts.*Give jwks/);
  });

  it('moves the time of a condition only when it flips, and the observed generation always', () => {
    const first = status(facts(client, { row: 'pending' }));
    const changed = { ...client, generation: 2 };
    const second = status(facts(changed), first.conditions, later);
    const times = Object.fromEntries(
      second.conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    );
    expect(times).to.deep.equal({ Ready: later, Valid: now, SecretReady: now, Synced: later, Granted: now });
    expect(new Set(second.conditions.map(({ observedGeneration }) => observedGeneration))).to.deep.equal(new Set([2]));
    expect(second.observedGeneration).to.equal(2);
  });

  it('shares equal conditions, and equal lists of them, among objects', () => {
    const pool = new ConditionPool();
    const [one, other] = ['a', 'b'].map((name) => {
      const of = facts(machineClient('x', { generateSecret: { name: 's' } }), { policies: 1 });
      return stampedConditions({ ...of, desired: { ...of.desired, digest: name } }, [], now, pool);
    });
    expect(one).to.equal(other);
  });

  it('has the columns of kubectl get', () => {
    expect(status(facts(client, { policies: 1 })).columns).to.deep.equal({
      kind: 'Client',
      id: 'app',
      grants: 'client_credentials',
      secret: 'generated',
      secretName: 'app',
      policies: 1,
      usage: undefined,
    });
    expect(status(facts(policy)).columns).to.deep.equal({
      kind: 'AccessPolicy',
      id: 'p',
      engine: 'allow',
      subjects: '1',
      resolvedLinks: ['Client/app'],
      danglingLinks: [],
    });
    expect(status(facts(declared('Box', 'box', {}), { issuer: 'i', clients: 1, policies: 2 })).columns).to.deep.equal({
      kind: 'Box',
      issuer: 'i',
      clients: 1,
      policies: 2,
      users: undefined,
    });
  });

  it('lists what a policy links by what is there, each once, and names five of what is missing', () => {
    const clients = Array.from({ length: 7 }, (_, nth) => `c${String(nth)}`);
    const of = facts(allowPolicy('p', 'app', 'app', ...clients), { dangling: clients.map((id) => `Client/${id}`) });
    const { columns, conditions } = status(of);
    expect(columns).to.deep.include({ resolvedLinks: ['Client/app'], danglingLinks: of.dangling });
    expect(conditions.find(({ type }) => type === 'LinksResolved')?.message).to.contain(
      'Client/c0, Client/c1, Client/c2, Client/c3, Client/c4 and 2 more',
    );
  });

  it('lists no more links than fit into an object', () => {
    const clients = Array.from({ length: 3_000 }, (_, nth) => `c${String(nth)}`);
    const dangling = clients.slice(0, 1_500).map((id) => `Client/${id}`);
    const { columns } = status(facts(allowPolicy('p', ...clients), { dangling }));
    if (columns.kind !== 'AccessPolicy') throw new Error('of another kind');
    expect(columns.resolvedLinks).to.have.length(1_000);
    expect(columns.danglingLinks).to.have.length(1_000);
  });

  it('uses every documented type of condition, and documents every reason with a sentence', () => {
    const used = new Set(cases.flatMap(([, of]) => status(of).conditions.map(({ type }) => type)));
    expect([...used]).to.have.members(Object.keys(CONDITIONS));
    for (const [reason, meaning] of Object.entries(REASONS)) expect(meaning, reason).to.match(/^[A-Z].*\.$/);
  });
});

describe('sameFacts', () => {
  const one = facts(client);
  const different: [title: string, fields: Partial<Facts>][] = [
    ['what is desired', { desired: { ...one.desired } }],
    ['the row', { row: 'pending' }],
    ['the number of policies', { policies: 1 }],
    ['the number of clients', { clients: 1 }],
    ['a link', { dangling: ['Client/x'] }],
    ['the rule', { unusable: [fault] }],
    ['the issuer', { issuer: 'i' }],
    ['the number of users', { users: 1 }],
    ['the sessions of a client', { usage: { id: 'app', live_sessions: 1 } }],
    ['the last token of a client', { usage: { id: 'app', live_sessions: 0, last_token_at: now } }],
  ];

  it('holds for the same facts', () => {
    expect(sameFacts(one, { ...one, unusable: [] })).to.equal(true);
  });
  for (const [title, fields] of different) {
    it(`tells apart ${title}`, () => {
      expect(sameFacts(one, { ...one, ...fields })).to.equal(false);
    });
  }
});
