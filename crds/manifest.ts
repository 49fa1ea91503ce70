import { isObject } from './path.ts';
import { wordHint } from './did-you-mean.ts';
import { pruneNulls, validate, shapeOf, type Validated, type Shape } from './shape.ts';
import type { Fault } from './fault.ts';
import { API_VERSION, KINDS, isKind, type Kind } from './kind.ts';
import { manifestSchemas, type Manifest, type ManifestOf } from './manifest-schema.ts';
import { accessPolicyRules } from './access-policy-rules.ts';
import { boxRules, groupRules } from './box-rules.ts';
import { clientRules } from './client-rules.ts';
import { boxNameRules, clientNameRules, groupNameRules, identityRules } from './object-rules.ts';
import type { Draft, Rule } from './rule.ts';
import { clientSpecRules } from './spec-rules.ts';
import type { AccessPolicySpec, BoxSpec, ClientSpec, GroupSpec } from './specs.ts';

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

function aboutSpec<Spec>(rule: Rule<Spec>): Rule<{ spec?: Spec }> {
  return {
    ...rule,
    path: `spec.${rule.path}`,
    broken: ({ spec }, old) => (spec === undefined ? [] : rule.broken(spec, old?.spec).map((path) => `spec.${path}`)),
  };
}

/** A custom resource that may be applied, or every fault of it. */
export type CheckedManifest =
  { readonly ok: true; readonly manifest: Manifest } | { readonly ok: false; readonly faults: readonly Fault[] };

/** Rules that a custom resource is checked by; tests leave one out at a time. */
export type ManifestRules = { readonly [K in Kind]: readonly ManifestRule<K>[] };

/**
 * Checks a whole custom resource as the API server does: without nulls, by schema and rules. `old` is the object that
 * is replaced (an id is immutable). Never throws; lists every fault with its field from the root, `spec.auth…`.
 */
export function checkManifest(value: unknown, old?: unknown, rules: ManifestRules = manifestRules): CheckedManifest {
  if (!isObject(value)) return refused('', 'must be an object with apiVersion, kind, metadata and spec');
  if (value['apiVersion'] !== API_VERSION) return refused('apiVersion', `must be ${API_VERSION}`);
  const { kind } = value;
  if (!isKind(kind)) return refused('kind', mustBeKind(kind));
  const validated = VALIDATORS[kind](value, old, rules);
  return validated.ok ? { ok: true, manifest: validated.value } : validated;
}

/** Returns the message about a kind that is none of ours; the value is not repeated. */
export function mustBeKind(kind: unknown): string {
  const kinds = Object.keys(KINDS);
  return `must be one of ${kinds.join(', ')}${typeof kind === 'string' ? wordHint(kind, kinds) : ''}`;
}

const VALIDATORS: { readonly [K in Kind]: ManifestValidator<K> } = {
  Client: validatorOf(shapeOf(manifestSchemas.Client), ({ Client }) => Client),
  AccessPolicy: validatorOf(shapeOf(manifestSchemas.AccessPolicy), ({ AccessPolicy }) => AccessPolicy),
  Box: validatorOf(shapeOf(manifestSchemas.Box), ({ Box }) => Box),
  Group: validatorOf(shapeOf(manifestSchemas.Group), ({ Group }) => Group),
};

type ManifestValidator<K extends Kind> = (
  value: object,
  old: unknown,
  rules: ManifestRules,
) => Validated<ManifestOf<K>>;

function validatorOf<K extends Kind>(
  shape: Shape<ManifestOf<K>>,
  rulesOf: (rules: ManifestRules) => readonly ManifestRule<K>[],
): ManifestValidator<K> {
  return (value, old, rules) => validate(shape, rulesOf(rules), pruneNulls(value, shape.node), old);
}

function refused(path: string, message: string): CheckedManifest {
  return { ok: false, faults: [{ path, message }] };
}
