import { Ajv } from 'ajv';
import Type, { type Static, type TSchema } from 'typebox';
import { HIGHEST_QUOTA, QUOTA_DEFAULTS } from '../../../crds/quota.ts';
import { PASSWORD_BYTES } from '../../../crds/secret-text.ts';
import { KINDS } from '../../../crds/kind.ts';
import { DNS_LABEL, HOST_NAME } from '../../../crds/fields.ts';
import { LINK_TYPES } from '../../../crds/links.ts';
import { MOST_HOSTS } from '../../client/cluster.ts';
import type { BoxHostsCall, ClusterSettingsCall, ServiceAccountsCall } from '../../client/cluster.ts';
import type { ApplyHead, ApplyLine, LinkedNames, MoveCall } from '../../client/desired-state.ts';
import { Problem } from '../../problem.ts';

const ajv = new Ajv({ validateSchema: false });

/** Returns the reader of a body, which throws Problem `bad-request` with a message. */
function reader<Schema extends TSchema>(schema: Schema, message: string): (value: unknown) => Static<Schema> {
  const matches = ajv.compile<Static<Schema>>(schema);
  return (value) => {
    if (matches(value)) return value;
    throw new Problem('bad-request', message);
  };
}

const text = Type.String({ minLength: 1, maxLength: 512 });
const call = { cluster: text, epoch: Type.Integer({ minimum: 1 }) };
const kind = Type.Enum(Object.values(KINDS).map((names) => names.kind));
const owner = Type.Object({ name: text, uid: Type.String({ maxLength: 512 }) });
const name = { kind, id: text };

const uid = Type.Optional(text);
const accept_data_loss = Type.Optional(Type.Integer({ minimum: 0 }));
const namespace = Type.Optional(Type.Object({ uid: text, adopt: uid, discard: uid, accept_data_loss }));
const limit = Type.Integer({ minimum: 0, maximum: HIGHEST_QUOTA });
const quotaNames = Type.Enum(Object.keys(QUOTA_DEFAULTS));
const quota = Type.Optional(Type.Partial(Type.Record(quotaNames, limit)));
const yes = Type.Optional(Type.Literal(true));

/** Reads the first line of an apply call. Throws Problem `bad-request`. */
export const parseHead: (value: unknown) => ApplyHead = reader(
  Type.Object({
    ...call,
    complete: Type.Boolean(),
    namespace,
    missing: yes,
    database: Type.Optional(text),
    quota,
  }),
  'The first line must hold cluster, epoch and complete',
);

const declared = { ...name, owner, digest: text, adopt: Type.Optional(Type.Enum(['unowned', 'force'])) };
const previous = Type.Optional(Type.Object({ secret: Type.Optional(text), until: Type.String({ maxLength: 64 }) }));
const password = Type.String({ minLength: 1, maxLength: PASSWORD_BYTES });
const bootstrap_admin = Type.Optional(Type.Object({ email: text, password }));
/** The resource is only known to be an object here: `validateLine` checks it against its schema before any use. */
const isDeclare = ajv.compile<Extract<ApplyLine, { resource: unknown }>>(
  Type.Object({ ...declared, retain: yes, purge: yes, previous, bootstrap_admin, resource: Type.Object({}) }),
);
const compareOrRemove = reader(
  Type.Union([Type.Object({ ...name, owner, delete: Type.Literal(true), retain: yes }), Type.Object(declared)]),
  'A line is neither declare, compare nor delete',
);

/** Reads one line of an apply call; its resource is validated later. Throws Problem `bad-request`. */
export function parseApplyLine(value: unknown): ApplyLine {
  return isDeclare(value) ? value : compareOrRemove(value);
}

/** Reads the body of `POST /boxes/<box>/missing-links`. Throws Problem `bad-request`. */
export const parseLinks: (value: unknown) => LinkedNames = reader(
  Type.Object({ links: Type.Array(Type.Object({ resourceType: Type.Enum([...LINK_TYPES]), id: text })) }),
  'The call must hold links: resourceType and id of each',
);

/** Reads the body of `POST /boxes/<box>/move`. Throws Problem `bad-request`. */
export const parseMove: (value: unknown) => MoveCall = reader(
  Type.Object({ ...call, database: text }),
  'The call must hold cluster, epoch and database',
);

const seenServiceAccount = Type.Object({
  ...{ client: text, namespace: text, name: text },
  uid: Type.Union([text, Type.Null()]),
  declared: Type.Optional(text),
});

/** Reads the body of `POST /boxes/<box>/service-accounts`. Throws Problem `bad-request`. */
export const parseServiceAccounts: (value: unknown) => ServiceAccountsCall = reader(
  Type.Object({ ...call, seen: Type.Array(seenServiceAccount) }),
  'The call must hold cluster, epoch and seen: client, namespace, name and uid',
);

const publicKey = Type.Object({
  kty: Type.Enum(['RSA', 'EC', 'OKP']),
  // The private part, and that of a symmetric key: its sender must learn of the mistake.
  d: Type.Optional(Type.Never()),
  k: Type.Optional(Type.Never()),
});
const keySet = Type.Object({ keys: Type.Array(publicKey, { minItems: 1, maxItems: 64 }) });
const serviceAccounts = Type.Object({ issuer: Type.String({ minLength: 1, maxLength: 2048 }), keys: keySet });

/** Reads the body of `PUT /settings`. Throws Problem `bad-request`. */
export const parseSettings: (value: unknown) => ClusterSettingsCall = reader(
  Type.Object({ ...call, service_accounts: Type.Union([serviceAccounts, Type.Null()]) }),
  'The settings must hold cluster, epoch and service_accounts: issuer, and public keys',
);

const hostNames = Type.Array(Type.String({ pattern: HOST_NAME, maxLength: 253 }), { maxItems: MOST_HOSTS });
const boxName = Type.String({ pattern: DNS_LABEL, maxLength: 63 });

/** Reads the body of `PUT /hosts`. Throws Problem `bad-request`. */
export const parseHosts: (value: unknown) => BoxHostsCall = reader(
  Type.Object({
    ...call,
    default_issuers: Type.String({ maxLength: 2048 }),
    boxes: Type.Array(Type.Object({ box: boxName, granted: hostNames, claimed: hostNames })),
  }),
  'The call must hold cluster, epoch, default_issuers and boxes: box, granted, claimed',
);
