import { isObject } from './path.ts';
import { wordHint } from './did-you-mean.ts';
import { pruneNulls, validate, shapeOf, type Validated, type Shape } from './shape.ts';
import type { Fault } from './fault.ts';
import { API_VERSION, KINDS, isKind, type Kind } from './kind.ts';
import { manifestSchemas, type Manifest, type ManifestOf } from './manifest-schema.ts';
import { accessPolicyRules } from './access-policy-rules.ts';
import { boxRules, groupRules } from './box-rules.ts';
import { clientRules } from './client-rules.ts';
import { clientSpecRules } from './spec-rules.ts';
import type { AccessPolicySpec, BoxSpec, ClientSpec, GroupSpec } from './specs.ts';
import { RESERVED_ID_PREFIX, isReservedId } from './reserved-ids.ts';
import { when, type Draft, type Rule } from './rule.ts';

/** Parts of a whole object that its rules read. */
interface NamedObject {
  metadata: { name: string };
  spec: { id?: string; name?: string; generateSecret?: { name?: string } };
}

type Subject = Draft<NamedObject>;

/** The field of a spec that identifies the resource. */
type IdentityField = 'id' | 'name';

/** Rules that tie the id of a resource to the name of its object; `self` is the whole object. */
const identityRules = identityRulesOf('id');

function identityRulesOf(field: IdentityField): readonly Rule<Subject>[] {
  const given = `has(self.spec.${field})`;
  const before = `(has(oldSelf.spec.${field}) ? oldSelf.spec.${field} : oldSelf.metadata.name)`;
  return [
    {
      id: `name-fits-${field}`,
      path: 'metadata.name',
      message: `must have at most 128 characters, or spec.${field} must be given`,
      cel: `${given} || self.metadata.name.size() <= 128`,
      broken: ({ metadata, spec }) =>
        when(spec?.[field] === undefined && (metadata?.name ?? '').length > 128, 'metadata.name'),
    },
    {
      id: `${field}-immutable`,
      path: `spec.${field}`,
      message: 'must stay as it is: delete the object and create another',
      cel: `(${given} ? self.spec.${field} : self.metadata.name) == ${before}`,
    },
  ];
}

/** The id of a client is never only digits nor reserved, and its Secret is named after it. */
const clientNameRules: readonly Rule<Subject>[] = [
  {
    id: 'client-name-not-a-number',
    path: 'metadata.name',
    message: 'must not be only digits, or spec.id must be given: a number is the id of a user (RFC 9700 section 4.15)',
    cel: "has(self.spec.id) || !self.metadata.name.matches('^[0-9]+$')",
    broken: ({ metadata, spec }) =>
      when(spec?.id === undefined && /^[0-9]+$/.test(metadata?.name ?? ''), 'metadata.name'),
  },
  {
    id: 'client-name-not-reserved',
    path: 'metadata.name',
    message: `must not begin with ${RESERVED_ID_PREFIX}, or spec.id must be given: these ids are reserved for built-in clients`,
    cel: `has(self.spec.id) || !self.metadata.name.startsWith('${RESERVED_ID_PREFIX}')`,
    broken: ({ metadata, spec }) => when(spec?.id === undefined && isReservedId(metadata?.name), 'metadata.name'),
  },
  {
    // Programs take some Secrets by their names alone.
    id: 'secret-name-of-client',
    path: 'spec.generateSecret.name',
    message: 'must be metadata.name, or begin with it and a hyphen',
    cel: "!has(self.spec.generateSecret) || !has(self.spec.generateSecret.name) || (self.spec.generateSecret.name + '-').startsWith(self.metadata.name + '-')",
    broken: ({ metadata, spec }) =>
      when(
        !`${spec?.generateSecret?.name ?? metadata?.name ?? ''}-`.startsWith(`${metadata?.name ?? ''}-`),
        'spec.generateSecret.name',
      ),
  },
];

/** Rules about the name of a group, which is never only digits, even if it comes from the name of the object. */
const groupNameRules: readonly Rule<Subject>[] = [
  ...identityRulesOf('name'),
  {
    id: 'group-object-name-not-a-number',
    path: 'metadata.name',
    message: 'must not be only digits, or spec.name must be given: policies would take it for the id of a group',
    cel: "has(self.spec.name) || !self.metadata.name.matches('^[0-9]+$')",
    broken: ({ metadata, spec }) =>
      when(spec?.name === undefined && /^[0-9]+$/.test(metadata?.name ?? ''), 'metadata.name'),
  },
];

/** A namespace is one box and has one Box. */
const boxNameRules: readonly Rule<Draft<Pick<NamedObject, 'metadata'>>>[] = [
  {
    id: 'box-name',
    path: 'metadata.name',
    message: 'must be box: a namespace is one box',
    cel: "self.metadata.name == 'box'",
    broken: ({ metadata }) => when(metadata?.name !== undefined && metadata.name !== 'box', 'metadata.name'),
  },
];

/** A rule about a custom resource. */
export type ManifestRule<K extends Kind> = Rule<Draft<ManifestOf<K>>>;

interface SpecRules {
  readonly Client: readonly Rule<Draft<ClientSpec>>[];
  readonly AccessPolicy: readonly Rule<Draft<AccessPolicySpec>>[];
  readonly Box: readonly Rule<Draft<BoxSpec>>[];
  readonly Group: readonly Rule<Draft<GroupSpec>>[];
}

/** Rules whose `self` is the spec, by kind: those of the resource, and those of fields that only manifests have. */
export const specRules: SpecRules = {
  Client: [...clientRules, ...clientSpecRules],
  AccessPolicy: accessPolicyRules,
  Box: boxRules,
  Group: groupRules,
};

/** Rules whose `self` is the whole object, by kind. */
export const objectRules = {
  Client: [...clientNameRules, ...identityRules],
  AccessPolicy: identityRules,
  Box: boxNameRules,
  Group: groupNameRules,
} as const;

/** Every rule about a custom resource, by kind; paths begin at the object. */
export const manifestRules: { readonly [K in Kind]: readonly ManifestRule<K>[] } = {
  Client: [...objectRules.Client, ...specRules.Client.map((rule) => aboutSpec(rule))],
  AccessPolicy: [...objectRules.AccessPolicy, ...specRules.AccessPolicy.map((rule) => aboutSpec(rule))],
  Box: [...objectRules.Box, ...specRules.Box.map((rule) => aboutSpec(rule))],
  Group: [...objectRules.Group, ...specRules.Group.map((rule) => aboutSpec(rule))],
};

function aboutSpec<Spec>({ broken, ...rule }: Rule<Spec>): Rule<{ spec?: Spec }> {
  return {
    ...rule,
    path: `spec.${rule.path}`,
    broken: ({ spec }) => (spec === undefined ? [] : (broken?.(spec) ?? []).map((path) => `spec.${path}`)),
  };
}

/** A custom resource that may be applied, or every fault of it. */
export type CheckedManifest =
  { readonly ok: true; readonly manifest: Manifest } | { readonly ok: false; readonly faults: readonly Fault[] };

/**
 * Checks a whole custom resource as the API server does: without nulls, by schema and rules. Never throws; lists every
 * fault with its field from the root, `spec.auth…`.
 */
export function checkManifest(value: unknown): CheckedManifest {
  if (!isObject(value)) return refused('', 'must be an object with apiVersion, kind, metadata and spec');
  if (value['apiVersion'] !== API_VERSION) return refused('apiVersion', `must be ${API_VERSION}`);
  const { kind } = value;
  if (!isKind(kind)) return refused('kind', mustBeKind(kind));
  const validated = VALIDATORS[kind](value);
  return validated.ok ? { ok: true, manifest: validated.value } : validated;
}

/** Returns the message about a kind that is none of ours; the value is not repeated. */
export function mustBeKind(kind: unknown): string {
  const kinds = Object.keys(KINDS);
  return `must be one of ${kinds.join(', ')}${typeof kind === 'string' ? wordHint(kind, kinds) : ''}`;
}

const VALIDATORS = {
  Client: validatorOf(shapeOf(manifestSchemas.Client), manifestRules.Client),
  AccessPolicy: validatorOf(shapeOf(manifestSchemas.AccessPolicy), manifestRules.AccessPolicy),
  Box: validatorOf(shapeOf(manifestSchemas.Box), manifestRules.Box),
  Group: validatorOf(shapeOf(manifestSchemas.Group), manifestRules.Group),
};

function validatorOf<K extends Kind>(
  shape: Shape<ManifestOf<K>>,
  rules: readonly ManifestRule<K>[],
): (value: object) => Validated<ManifestOf<K>> {
  return (value) => validate(shape, rules, pruneNulls(value, shape.node));
}

function refused(path: string, message: string): CheckedManifest {
  return { ok: false, faults: [{ path, message }] };
}
