import { idText, isIdField } from './id-fields.ts';
import type { Steps } from './steps.ts';

/** Whether a value is a JSON object (no array, no null). */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a JSON array, with elements that nothing is known of. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The value of an object's own member; undefined where it has none: `toString` and `__proto__` are never found. */
export function ownMember(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Checks whether two JSON values are equal. The order of an object's members does not count. With `areIds`, and inside members that
 * hold IDs, a whole number equals its decimal text.
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
