import type { Fault } from './fault.ts';

/**
 * What one keyword of a schema cannot say: a relation between fields, or a form that needs its own sentence. Written
 * twice side by side, as CEL for the API server and as code for everybody else; the table in test/crds holds the two to
 * the same verdicts.
 */
export interface Rule<Subject> {
  /** Stable name. */
  readonly id: string;
  /** The field that the API server names; relative to the spec, or to the whole object for rules about that. */
  readonly path: string;
  /** Fragment that follows the field's name in a sentence: `must …`. */
  readonly message: string;
  /**
   * True where the rule is kept; `self` is the spec, or the whole object. Runs on Kubernetes 1.31 and later. Absent where
   * a keyword of the CRD says the same and JSON Schema has none for it.
   */
  readonly cel?: string;
  /** Dotted paths of the fields that break the rule; empty where it is kept. `old` is the object that is replaced. */
  readonly broken: (subject: Subject, old?: Subject) => readonly string[];
}

/**
 * A value of which every part is optional and has the right type, and nothing more is known: what is left of a value
 * after its faulty parts are taken out. Rules read this form, so that one fault never hides another.
 */
export type Draft<T> = T extends string
  ? string
  : T extends readonly (infer Element)[]
    ? Draft<Element>[]
    : T extends object
      ? { [K in keyof T]?: Draft<T[K]> }
      : T;

/** Every fault of a value that keeps its types, in the order of the rules. */
export function ruleFaults<Subject>(rules: readonly Rule<Subject>[], subject: Subject, old?: Subject): Fault[] {
  return rules.flatMap((rule) => rule.broken(subject, old).map((path) => ({ path, message: rule.message })));
}

/** The paths of the elements of a list for which `isBroken` is true: `link[2]` for the third of `link`. */
export function brokenElements<Element>(
  list: readonly Element[] | undefined,
  path: string,
  isBroken: (element: Element) => boolean,
): string[] {
  return (list ?? []).flatMap((element, index) => (isBroken(element) ? [`${path}[${index}]`] : []));
}

/** The path when a rule is broken, nothing when it is kept. */
export function when(isBroken: boolean, path: string): string[] {
  return isBroken ? [path] : [];
}
