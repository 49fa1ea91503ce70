import { isObject } from './json-value.ts';
import { wordHint } from './did-you-mean.ts';
import { pruneNulls } from './prune.ts';
import type { Fault } from './fault.ts';
import { API_VERSION, KINDS, isKind, type Kind } from './kind.ts';
import { manifestRules, type ManifestRule } from './manifest-rules.ts';
import { manifestSchemas, type Manifest, type ManifestOf } from './manifest-schema.ts';
import { validate, shapeOf, type Validated, type Shape } from './shape.ts';

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
