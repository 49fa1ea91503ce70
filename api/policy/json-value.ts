import { isList, isObject } from '../../crds/path.ts';
import type { Steps } from './steps.ts';

/**
 * Checks whether a field holds an ID, or a list of them. The ID of a user or group is a number, and its decimal text
 * where OAuth or a path demands text (docs/reference/policy-engines.md): comparisons of these fields treat both forms
 * as equal.
 */
export function isIdField(name: string): boolean {
  return ID_FIELDS.has(name);
}

/** Returns the text of an ID that is a number, and any other value as it is. */
function idText(value: unknown): unknown {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
}

const ID_FIELDS: ReadonlySet<string> = new Set(['id', 'sub', 'group-ids']);

/** Returns the value of an object's own member, otherwise undefined: never that of `toString` or `__proto__`. */
export function ownMember(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Checks whether two JSON values are equal. The order of an object's members does not matter. With `areIds`, and inside
 * members that hold IDs, a whole number equals its decimal text.
 */
export function isEqual(one: unknown, other: unknown, steps: Steps, areIds = false): boolean {
  steps.take(typeof one === 'string' ? 1 + one.length / 256 : 1);
  if (one === other) return true;
  if (isList(one)) return isList(other) && isEqualList(one, other, steps, areIds);
  if (isObject(one)) return isObject(other) && isEqualObject(one, other, steps, areIds);
  return areIds && idText(one) === idText(other);
}

function isEqualList(one: readonly unknown[], other: readonly unknown[], steps: Steps, areIds: boolean): boolean {
  return one.length === other.length && one.every((element, at) => isEqual(element, other[at], steps, areIds));
}

function isEqualObject(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
  steps: Steps,
  areIds: boolean,
): boolean {
  const keys = Object.keys(one);
  steps.take(keys.length / 8);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every(
    (key) => Object.hasOwn(other, key) && isEqual(one[key], other[key], steps, areIds || isIdField(key)),
  );
}
