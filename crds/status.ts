import Type, { type TProperties } from 'typebox';
import type { Kind } from './kind.ts';

/** A new object has not been observed: without this number tools consider it healthy (kstatus). */
const NOT_OBSERVED = { observedGeneration: -1 } as const;

function text(description: string, maxLength = 256) {
  return Type.Optional(Type.String({ description, maxLength }));
}

function count(description: string) {
  return Type.Optional(Type.Integer({ description, minimum: 0 }));
}

function time(description: string) {
  return Type.Optional(Type.String({ description, format: 'date-time', maxLength: 64 }));
}

/** Maximum number of links of each sort in a status: more than a policy may have. */
const MOST_LINKS = 1000;

function links(description: string) {
  return Type.Optional(
    Type.Array(Type.String({ description: 'One link, such as `Client/my-client`.', maxLength: 136 }), {
      description,
      maxItems: MOST_LINKS,
    }),
  );
}

const condition = Type.Object(
  {
    type: Type.String({ description: 'What the condition is about, such as Ready.', minLength: 1, maxLength: 316 }),
    status: Type.Enum(['True', 'False', 'Unknown'], { type: 'string', description: 'Whether it holds.' }),
    observedGeneration: Type.Optional(
      Type.Integer({ description: 'metadata.generation that the condition was computed from.', minimum: 0 }),
    ),
    lastTransitionTime: Type.String({
      description: 'When the status last changed.',
      format: 'date-time',
      maxLength: 64,
    }),
    reason: Type.String({
      description: 'The cause in one word, from the documented list.',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: Type.String({ description: 'The cause in a sentence.', maxLength: 32_768 }),
  },
  { description: 'One condition, as every kind of Kubernetes has them.' },
);

const pinned = Type.Object(
  {
    namespace: Type.String({ description: 'Namespace of the ServiceAccount.', maxLength: 63 }),
    name: Type.String({ description: 'Name of the ServiceAccount.', maxLength: 253 }),
    uid: Type.String({ description: 'The pin: the uid of the only ServiceAccount that is accepted.', maxLength: 128 }),
  },
  { description: 'One pinned entry.' },
);

function statusOf(fields: TProperties) {
  return Type.Object(
    {
      observedGeneration: Type.Optional(
        Type.Integer({ description: 'metadata.generation that this status is about.', default: -1 }),
      ),
      conditions: Type.Optional(
        Type.Array(condition, {
          description: 'Ready, and what it rests on.',
          maxItems: 16,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
        }),
      ),
      ...fields,
    },
    { description: 'Written by the operator.', default: NOT_OBSERVED },
  );
}

const IN_CLUSTER = 'Token URL for the pods of this cluster. Tokens from it name the issuer all the same.';

/** `status` of each kind. Never a secret, nor anything of another namespace. */
export const statusSchemas = {
  Client: statusOf({
    id: text('Identifier that the client has in the box.', 128),
    grants: text('Grants the client may use, joined by commas; `none` for a client that only introspects tokens.', 512),
    // Not longer: an older definition refuses a status with a longer text.
    secret: text(
      'Where the client secret comes from: inline, reference or generated. Without one: `none (public)`, or `none (keys)` and `none (accounts)` of a client that keys or ServiceAccounts authenticate. Never the secret.',
      16,
    ),
    secretName: text('Secret that holds the client secret.', 253),
    issuer: text('Issuer of the tokens, by which everybody reaches the box.', 2048),
    inClusterTokenUrl: text(IN_CLUSTER),
    previousSecretLastUsed: time('When the secret before the present one was last used; it retires when it is not.'),
    policies: count('How many policies concern the client.'),
    serviceAccounts: Type.Optional(
      Type.Array(pinned, {
        description:
          'ServiceAccounts that entries of service_accounts are pinned to: those that have got a token, and those that an entry names and that are not there.',
        maxItems: 64,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['namespace', 'name'],
      }),
    ),
    sessions: count('How many live sessions the client has; 10000 stands for that many or more.'),
    lastTokenAt: time('When the client last got a token.'),
  }),
  AccessPolicy: statusOf({
    id: text('Identifier that the policy has in the box.', 128),
    subjects: text('Whom the policy concerns: a number of linked ones, authenticated, or anyone.', 64),
    resolvedLinks: links('Links to something that exists; of more than 1000 the first.'),
    danglingLinks: links('Links to something that does not exist (yet); of more than 1000 the first.'),
    lastUsed: time('When the policy last granted a request, to the hour; absent if no use is recorded.'),
  }),
  Group: statusOf({
    name: text('Name that the group has in the box.', 128),
    members: count('How many users are in the group.'),
  }),
  Box: statusOf({
    issuer: text('Issuer of the tokens.', 2048),
    inClusterTokenUrl: text(IN_CLUSTER),
    database: text('Database that the box is in.', 32),
    clients: count('How many clients the box has.'),
    policies: count('How many policies the box has.'),
    users: count('How many users the box has.'),
  }),
} as const satisfies Record<Kind, ReturnType<typeof statusOf>>;
