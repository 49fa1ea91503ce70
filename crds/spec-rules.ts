import { secondsOf } from './duration.ts';
import { SECRET_ENTRIES } from './kubernetes-fields.ts';
import { KEY_MEMBERS, UNQUOTED, type KeyMember, type KeyType } from './public-keys.ts';
import { RESERVED_ID_MESSAGE, RESERVED_ID_PREFIX, isReservedId } from './reserved-ids.ts';
import { brokenElements, when, type Draft, type Rule } from './rule.ts';
import type { ClientSpec } from './specs.ts';

type Subject = Draft<ClientSpec>;

/** A text without placeholders, or with known ones only. */
const TEMPLATE = `^([^{]|\\{[^{]|\\{\\{ ?(${SECRET_ENTRIES.join('|')}) ?\\}\\})*\\{?$`;
/** Keys of labels and annotations that belong to Kubernetes itself. */
const KUBERNETES_KEY = '^([^/]*\\.)?(kubernetes|k8s)\\.io/';
/** Keys of labels and annotations that belong to the operator. */
const OPERATOR_KEY = '^([^/]*\\.)?boxgate\\.dev/';
/** Kubernetes: IsQualifiedName, a DNS name as an optional prefix. */
const QUALIFIED_KEY = '^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$';
const LABEL_VALUE = '^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$';
const ENTRY_KEY = '^[-._a-zA-Z0-9]{1,253}$';

/**
 * Rules about the fields of a Client that only apply to custom resources: its id, the source of its secret, its keys.
 */
export const clientSpecRules: readonly Rule<Subject>[] = [
  {
    // Not a rule of the resource: a stored client that has such an id from before it was reserved stays usable.
    id: 'client-id-not-reserved',
    path: 'id',
    message: RESERVED_ID_MESSAGE,
    cel: `!has(self.id) || !self.id.startsWith('${RESERVED_ID_PREFIX}')`,
    broken: ({ id }) => when(isReservedId(id), 'id'),
  },
  {
    id: 'one-secret',
    path: 'secret',
    message: 'must be the only source of the secret: give one of secret, secretRef, generateSecret',
    cel: '[has(self.secret), has(self.secretRef), has(self.generateSecret)].filter(given, given).size() <= 1',
    broken: ({ secret, secretRef, generateSecret }) => {
      const given = [secret, secretRef, generateSecret].filter((source) => source !== undefined);
      return when(given.length > 1, 'secret');
    },
  },
  {
    id: 'rotation-generated',
    path: 'rotation',
    message: 'must be given for a generated secret only: this client has secret, secretRef, jwks or service_accounts',
    cel: '!has(self.rotation) || has(self.generateSecret) || !(has(self.secret) || has(self.secretRef) || has(self.jwks) || has(self.jwks_uri) || has(self.service_accounts))',
    broken: (spec) => when(spec.rotation !== undefined && !hasGeneratedSecret(spec), 'rotation'),
  },
  {
    id: 'rotation-when',
    path: 'rotation',
    message: 'must have every or at',
    cel: '!has(self.rotation) || has(self.rotation.every) || has(self.rotation.at)',
    broken: ({ rotation }) =>
      when(rotation !== undefined && rotation.every === undefined && rotation.at === undefined, 'rotation'),
  },
  {
    id: 'rotation-overlap',
    path: 'rotation.every',
    message: 'must be longer than the overlap (1h when none is given)',
    cel: "!has(self.rotation) || !has(self.rotation.every) || duration(self.rotation.every) > duration(has(self.rotation.overlap) ? self.rotation.overlap : '1h')",
    broken: ({ rotation }) => {
      const every = rotation?.every;
      return when(every !== undefined && secondsOf(every) <= secondsOf(rotation?.overlap ?? '1h'), 'rotation.every');
    },
  },
  mapRule({
    id: 'template-keys',
    map: 'template',
    message: 'must have keys of letters, digits and -._ as a Secret wants them',
    cel: `k.matches(r'${ENTRY_KEY}')`,
    holds: (key) => ENTRY.test(key),
  }),
  mapRule({
    id: 'template-reserved',
    map: 'template',
    message: 'must not have keys that begin with .boxgate: those belong to the operator',
    cel: `!k.startsWith('.boxgate')`,
    holds: (key) => !key.startsWith('.boxgate'),
  }),
  mapRule({
    id: 'template-placeholders',
    map: 'template',
    message: `must use no other placeholders than ${SECRET_ENTRIES.map((name) => `{{${name}}}`).join(', ')}`,
    cel: `self.generateSecret.template[k].matches(r'${TEMPLATE}')`,
    holds: (_key, value) => PLACEHOLDERS.test(value),
  }),
  ...(['labels', 'annotations'] as const).flatMap(metadataRules),
  keyMembers(
    'EC',
    KEY_MEMBERS.EC,
    'must have crv, x and "y" where kty is EC: quote "y", which YAML 1.1 takes for true',
  ),
  keyMembers('OKP', KEY_MEMBERS.OKP, 'must have crv and x where kty is OKP (RFC 8037 section 2)'),
  keyMembers('RSA', KEY_MEMBERS.RSA, 'must have "n" and e where kty is RSA: quote "n", which YAML 1.1 takes for false'),
  unquoted('key-unquoted-y', 'true'),
  unquoted('key-unquoted-n', 'false'),
  mapRule({
    id: 'label-values',
    map: 'labels',
    message: 'must have values of at most 63 letters, digits and -._, beginning and ending with a letter or digit',
    cel: `self.generateSecret.labels[k].matches(r'${LABEL_VALUE}')`,
    holds: (_key, value) => VALUE.test(value),
  }),
];

/**
 * Refuses a name that YAML 1.1 makes of an unquoted one. The API server reports it as a missing member: CEL does not
 * see one that the schema does not name.
 */
function unquoted(id: string, name: keyof typeof UNQUOTED): Rule<Subject> {
  return {
    id,
    path: 'jwks.keys',
    message: UNQUOTED[name],
    broken: ({ jwks }) =>
      brokenElements(jwks?.keys, 'jwks.keys', (key) => Object.hasOwn(key, name)).map((path) => `${path}.${name}`),
  };
}

/** Demands the members of a key that its type needs; the import of the key checks their values. */
function keyMembers(kty: KeyType, members: readonly KeyMember[], message: string): Rule<Subject> {
  return {
    id: `key-${kty.toLowerCase()}-members`,
    path: 'jwks.keys',
    message,
    cel: `!has(self.jwks) || self.jwks.keys.all(k, k.kty != '${kty}' || (${members.map((member) => `has(k.${member})`).join(' && ')}))`,
    broken: ({ jwks }) =>
      brokenElements(
        jwks?.keys,
        'jwks.keys',
        (key) => key.kty === kty && members.some((member) => key[member] === undefined),
      ),
  };
}

type MapName = 'template' | 'labels' | 'annotations';

interface MapRule {
  readonly id: string;
  readonly map: MapName;
  readonly message: string;
  /** About one key `k` of the map. */
  readonly cel: string;
  readonly holds: (key: string, value: string) => boolean;
}

function metadataRules(map: 'labels' | 'annotations'): Rule<Subject>[] {
  return [
    mapRule({
      id: `${map}-reserved`,
      map,
      message: 'must not be under kubernetes.io or k8s.io: those belong to Kubernetes',
      cel: `!k.matches(r'${KUBERNETES_KEY}')`,
      holds: (key) => !RESERVED.test(key),
    }),
    mapRule({
      id: `${map}-own`,
      map,
      message: 'must not be under boxgate.dev: those belong to the operator',
      cel: `!k.matches(r'${OPERATOR_KEY}')`,
      holds: (key) => !OPERATOR.test(key),
    }),
    mapRule({
      id: `${map}-keys`,
      map,
      message: 'must have qualified names as keys, such as example.com/name',
      cel: `k.matches(r'${QUALIFIED_KEY}')`,
      holds: (key) => QUALIFIED.test(key),
    }),
  ];
}

function mapRule({ id, map, message, cel, holds }: MapRule): Rule<Subject> {
  const path = `generateSecret.${map}`;
  return {
    id,
    path,
    message,
    cel: `!has(self.generateSecret) || !has(self.${path}) || self.${path}.all(k, ${cel})`,
    broken: ({ generateSecret }) =>
      when(
        !Object.entries(generateSecret?.[map] ?? {}).every(([key, value]) => value === undefined || holds(key, value)),
        path,
      ),
  };
}

function hasGeneratedSecret(spec: Subject): boolean {
  if (spec.generateSecret !== undefined) return true;
  const others = [spec.secret, spec.secretRef, spec.jwks, spec.jwks_uri, spec.service_accounts];
  return others.every((other) => other === undefined);
}

const ENTRY = new RegExp(ENTRY_KEY, 'u');
const PLACEHOLDERS = new RegExp(TEMPLATE, 'u');
const RESERVED = new RegExp(KUBERNETES_KEY, 'u');
const OPERATOR = new RegExp(OPERATOR_KEY, 'u');
const QUALIFIED = new RegExp(QUALIFIED_KEY, 'u');
const VALUE = new RegExp(LABEL_VALUE, 'u');
