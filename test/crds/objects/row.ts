import type { Kind } from '../../../crds/kind.ts';

/**
 * One object and what must become of it. `refused`: by the API server and by our own check alike, naming `paths`.
 * `valid-false`: the API server takes it, for no rule of a CRD can tell; our own check or the compiler of policies
 * refuses it, and the object gets the condition Valid=False.
 */
export interface Row {
  readonly title: string;
  readonly kind: Kind;
  readonly object: unknown;
  /** The object that it replaces. */
  readonly old?: unknown;
  readonly verdict: 'accepted' | 'refused' | 'valid-false';
  /** Every field that is refused, from the root of the object; empty for accepted ones. */
  readonly paths: readonly string[];
}

/** Fields of a spec, right or wrong. */
export type Spec = Readonly<Record<string, unknown>>;
/** Fields of a spec, and the paths below `spec` that are refused. */
export type Refused = readonly [spec: Spec, ...paths: string[]];

const BASES = {
  Client: { grant_types: ['client_credentials'] },
  AccessPolicy: { engine: 'allow' },
  Box: {},
  Group: {},
} as const satisfies Record<Kind, Spec>;

const NAMES = { Client: 'app', AccessPolicy: 'readers', Box: 'box', Group: 'staff' } as const satisfies Record<
  Kind,
  string
>;

/** A whole object; what the spec does not say comes from the smallest good one. */
export function manifest(kind: Kind, spec: Spec, name: string = NAMES[kind]): Spec {
  return {
    apiVersion: 'boxgate.dev/v1',
    kind,
    metadata: { name, namespace: 'shop' },
    spec: { ...BASES[kind], ...spec },
  };
}

/** Rows of objects that are taken, by title. */
export function accepted(kind: Kind, specs: Readonly<Record<string, Spec>>): Row[] {
  return Object.entries(specs).map(([title, spec]) => ({
    title,
    kind,
    object: manifest(kind, spec),
    verdict: 'accepted',
    paths: [],
  }));
}

/** Rows of objects that are refused, by title. */
export function refused(kind: Kind, specs: Readonly<Record<string, Refused>>): Row[] {
  return Object.entries(specs).map(([title, [spec, ...paths]]) => ({
    title,
    kind,
    object: manifest(kind, spec),
    verdict: 'refused',
    paths: paths.map((path) => `spec.${path}`),
  }));
}

/** Rows of objects that only our own code can refuse; a path where our check names it, none where the compiler does. */
export function validFalse(kind: Kind, specs: Readonly<Record<string, Refused>>): Row[] {
  return refused(kind, specs).map((row) => ({ ...row, verdict: 'valid-false' }));
}

/** Text of a length. */
export function letters(length: number): string {
  return 'a'.repeat(length);
}
