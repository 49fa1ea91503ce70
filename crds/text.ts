import type { Fault } from './fault.ts';
import { memberPath } from './path.ts';

/** Maximum depth of a value; everything that runs after this check may therefore recurse. */
export const DEEPEST = 64;
/** Maximum number of members of an object or list, whatever its schema. */
const WIDEST = 20_000;
/** Number of faults of one value after which the search for more ends. */
const MOST_FAULTS = 100;
const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

interface Place {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

/**
 * Returns the faults that make a value unfit for any store, whatever its schema: nesting deeper than {@link DEEPEST},
 * text that Postgres and UTF-8 cannot hold (NUL, lone surrogates), keys that reach a prototype. Walks with a list of
 * its own instead of recursion, so that no input can overflow the stack.
 */
export function textFaults(value: unknown): Fault[] {
  const faults: Fault[] = [];
  const places: Place[] = [{ value, path: '', depth: 0 }];
  for (let place = places.pop(); place !== undefined && faults.length < MOST_FAULTS; place = places.pop()) {
    if (typeof place.value === 'string') faults.push(...stringFaults(place.value, place.path));
    if (typeof place.value !== 'object' || place.value === null) continue;
    if (place.depth >= DEEPEST) return [{ path: '', message: `must not nest deeper than ${DEEPEST} levels` }];
    const members = Object.entries(place.value);
    if (members.length > WIDEST) return [{ path: place.path, message: `must have at most ${WIDEST} entries` }];
    for (const [key, member] of members) {
      const path = memberPath(place.path, key, Array.isArray(place.value));
      faults.push(...keyFaults(key, path));
      places.push({ value: member, path, depth: place.depth + 1 });
    }
  }
  return faults;
}

function keyFaults(key: string, path: string): Fault[] {
  if (UNSAFE_KEYS.has(key)) return [{ path, message: 'must not be used as a name' }];
  return stringFaults(key, path);
}

function stringFaults(text: string, path: string): Fault[] {
  if (text.includes('\0')) return [{ path, message: 'must not contain the character NUL' }];
  if (!text.isWellFormed()) return [{ path, message: 'must not contain half of a surrogate pair' }];
  return [];
}
