import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { HIGHEST_QUOTA, QUOTA_DEFAULTS } from '../../../crds/quota.ts';
import { PASSWORD_BYTES } from '../../../crds/secret-text.ts';
import { KINDS } from '../../../crds/kind.ts';
import { DNS_LABEL, HOST_NAME } from '../../../crds/fields.ts';
import { LINK_TYPES } from '../../../crds/links.ts';
import { MOST_HOSTS } from '../../client/box-hosts.ts';
import type { BoxHostsCall } from '../../client/box-hosts.ts';
import type { ClusterSettingsCall } from '../../client/cluster-settings.ts';
import type { ApplyHead, ApplyLine, LinkedNames } from '../../client/desired-state.ts';
import type { ServiceAccountsCall } from '../../client/service-accounts.ts';
import { Problem } from '../../problem.ts';

const text = Type.String({ minLength: 1, maxLength: 512 });
const kind = Type.Enum(Object.values(KINDS).map((names) => names.kind));
const owner = Type.Object({ name: text, uid: Type.String({ maxLength: 512 }) });
const name = { kind, id: text };

const uid = Type.Optional(text);
const namespace = Type.Optional(Type.Object({ uid: text, adopt: uid, discard: uid }));
const limit = Type.Integer({ minimum: 0, maximum: HIGHEST_QUOTA });
const quotaNames = Type.Enum(Object.keys(QUOTA_DEFAULTS));
const quota = Type.Optional(Type.Partial(Type.Record(quotaNames, limit)));
const yes = Type.Optional(Type.Literal(true));
const headFields = { namespace, missing: yes, quota };
const head = Compile(
  Type.Object({ cluster: text, epoch: Type.Integer({ minimum: 1 }), complete: Type.Boolean(), ...headFields }),
);
const declared = { ...name, owner, digest: text, adopt: Type.Optional(Type.Enum(['unowned', 'force'])) };
const previous = Type.Optional(Type.Object({ secret: Type.Optional(text), until: Type.String({ maxLength: 64 }) }));
const password = Type.String({ minLength: 1, maxLength: PASSWORD_BYTES });
const bootstrap_admin = Type.Optional(Type.Object({ email: text, password }));
const declare = Compile(
  Type.Object({ ...declared, retain: yes, purge: yes, previous, bootstrap_admin, resource: Type.Object({}) }),
);
const compare = Compile(Type.Object(declared));
const remove = Compile(Type.Object({ ...name, owner, delete: Type.Literal(true), retain: yes }));

const link = Type.Object({ resourceType: Type.Enum([...LINK_TYPES]), id: text });
const links = Compile(Type.Object({ links: Type.Array(link) }));

const seenServiceAccount = Type.Object({
  ...{ client: text, namespace: text, name: text },
  uid: Type.Union([text, Type.Null()]),
  declared: Type.Optional(text),
});
const seenServiceAccounts = Compile(
  Type.Object({ cluster: text, epoch: Type.Integer({ minimum: 1 }), seen: Type.Array(seenServiceAccount) }),
);

const publicKey = Type.Object({
  kty: Type.Enum(['RSA', 'EC', 'OKP']),
  // The private part, and that of a symmetric key: its sender must learn of the mistake.
  d: Type.Optional(Type.Never()),
  k: Type.Optional(Type.Never()),
});
const keySet = Type.Object({ keys: Type.Array(publicKey, { minItems: 1, maxItems: 64 }) });
const serviceAccounts = Type.Object({ issuer: Type.String({ minLength: 1, maxLength: 2048 }), keys: keySet });
const settings = Compile(
  Type.Object({
    cluster: text,
    epoch: Type.Integer({ minimum: 1 }),
    service_accounts: Type.Union([serviceAccounts, Type.Null()]),
  }),
);

const hostNames = Type.Array(Type.String({ pattern: HOST_NAME, maxLength: 253 }), { maxItems: MOST_HOSTS });
const boxName = Type.String({ pattern: DNS_LABEL, maxLength: 63 });
const hosts = Compile(
  Type.Object({
    cluster: text,
    epoch: Type.Integer({ minimum: 1 }),
    default_issuers: Type.String({ maxLength: 2048 }),
    boxes: Type.Array(Type.Object({ box: boxName, granted: hostNames, claimed: hostNames })),
  }),
);

/** Reads the body of `PUT /hosts`. Throws Problem `bad-request`. */
export function parseHosts(value: unknown): BoxHostsCall {
  if (hosts.Check(value)) return value;
  throw new Problem(
    'bad-request',
    'The call must hold cluster, epoch, default_issuers and boxes: box, granted, claimed',
  );
}

/** Reads the body of `PUT /settings`. Throws Problem `bad-request`. */
export function parseSettings(value: unknown): ClusterSettingsCall {
  if (settings.Check(value)) return value;
  throw new Problem(
    'bad-request',
    'The settings must hold cluster, epoch and service_accounts: issuer, and public keys',
  );
}

/** Reads the body of `POST /boxes/<box>/missing-links`. Throws Problem `bad-request`. */
export function parseLinks(value: unknown): LinkedNames {
  if (links.Check(value)) return value;
  throw new Problem('bad-request', 'The call must hold links: resourceType and id of each');
}

/** Reads the body of `POST /boxes/<box>/service-accounts`. Throws Problem `bad-request`. */
export function parseServiceAccounts(value: unknown): ServiceAccountsCall {
  if (seenServiceAccounts.Check(value)) return value;
  throw new Problem('bad-request', 'The call must hold cluster, epoch and seen: client, namespace, name and uid');
}

/** Reads the first line of an apply call. Throws Problem `bad-request`. */
export function parseHead(value: unknown): ApplyHead {
  if (head.Check(value)) return value;
  throw new Problem('bad-request', 'The first line must hold cluster, epoch and complete');
}

/** Reads one line of an apply call; its resource is validated later. Throws Problem `bad-request`. */
export function parseApplyLine(value: unknown): ApplyLine {
  if (isDeclareLine(value)) return value;
  if (remove.Check(value)) return value;
  if (compare.Check(value)) return value;
  throw new Problem('bad-request', 'A line is neither declare, compare nor delete');
}

/** The resource is only known to be an object here: `validateLine` checks it against its schema before any use. */
function isDeclareLine(value: unknown): value is Extract<ApplyLine, { resource: unknown }> {
  return declare.Check(value);
}
