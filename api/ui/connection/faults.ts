import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { objectsOf, textOf } from './members.ts';

/** Sentences by field; those of no field are under ''. */
export type Faults = Readonly<Record<string, readonly string[]>>;

/** Reads the faults in the body of a refusal: an OperationOutcome, or `{entity, errors}` of the users API. */
export function faultsIn(body: unknown): Faults {
  if (!isObject(body)) return {};
  const { errors } = body;
  if (isObject(errors)) {
    return Object.fromEntries(Object.entries(errors).map(([field, texts]) => [field, [texts].flat().map(String)]));
  }
  const issues = objectsOf(body['issue']).map((issue): [string, string] => [
    fieldOf(issue),
    textOf(issue, 'diagnostics'),
  ]);
  const byField = Map.groupBy(issues, ([field]) => field);
  return Object.fromEntries([...byField].map(([field, found]) => [field, found.map(([, text]) => text)]));
}

function fieldOf({ expression }: JsonObject): string {
  return Array.isArray(expression) ? String(expression[0]) : '';
}

/** Returns the sentences of all fields that a form does not show. */
export function otherFaults(faults: Faults, shown: readonly string[]): readonly string[] {
  return Object.entries(faults).flatMap(([field, texts]) => (shown.includes(field) ? [] : texts));
}
