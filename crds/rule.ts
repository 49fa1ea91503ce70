import type { Fault } from './fault.ts';

/**
 * A rule that no single keyword of a schema can express: a relation between fields, or a form that needs its own
 * sentence. It is written twice, as CEL for the API server and as code for everything else; the table in test/crds
 * checks that both come to the same result.
 */
export interface Rule<Subject> {
  /** Stable name. */
  readonly id: string;
  /** The field that the API server names; relative to the spec, or to the whole object for rules about that. */
  readonly path: string;
  /** Fragment that follows the field's name in a sentence: `must …`. */
  readonly message: string;
  /**
   * True if the value obeys the rule; `self` is the spec, or the whole object. Runs on Kubernetes 1.30 and later.
   * Absent if a keyword of the CRD says the same and JSON Schema has none for it.
   */
  readonly cel?: string;
  /** Dotted paths of the fields that break the rule; empty if none does. Absent if only the API server can tell. */
  readonly broken?: (subject: Subject) => readonly string[];
}

/**
 * A value whose parts are all optional and of the right type, with nothing else known: the rest of a value after its
 * faulty parts are removed. Rules read this form, so that one fault never hides another.
 */
export type Draft<T> = T extends string
  ? string
  : T extends readonly (infer Element)[]
    ? Draft<Element>[]
    : T extends object
      ? { [K in keyof T]?: Draft<T[K]> }
      : T;

/** Returns every fault of a value whose types are right, in the order of the rules. */
export function ruleFaults<Subject>(rules: readonly Rule<Subject>[], subject: Subject): Fault[] {
  return rules.flatMap(({ broken, message }) => (broken?.(subject) ?? []).map((path) => ({ path, message })));
}

/** Returns the paths of the elements of a list for which `isBroken` is true: `link[2]` for the third of `link`. */
export function brokenElements<Element>(
  list: readonly Element[] | undefined,
  path: string,
  isBroken: (element: Element) => boolean,
): string[] {
  return (list ?? []).flatMap((element, index) => (isBroken(element) ? [`${path}[${index}]`] : []));
}

/** Returns the path if a rule is broken, otherwise nothing. */
export function when(isBroken: boolean, path: string): string[] {
  return isBroken ? [path] : [];
}
