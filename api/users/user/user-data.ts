import type { Fault } from '../../../crds/fault.ts';

/** Maximum bytes of a user's data: every check of one of the user's tokens carries it. */
const largest = 65_536;
/** Maximum depth of the data: its readers may recurse. */
const deepestData = 1_000;

/**
 * Returns the JSON text to be stored as a user's `data`: a string that holds JSON is kept byte for byte, with any JSON
 * (RFC 8259); an object or array becomes its JSON text, null is none. Returns the faults instead when it is not JSON,
 * is too large or nests too deep. Of equal names in an object, policies and claims see the last.
 */
export function readUserData(value: unknown): { readonly text: string | null } | { readonly faults: readonly Fault[] } {
  if (value === null) return { text: null };
  if (typeof value !== 'string' && typeof value !== 'object') {
    return faulty('must be a string that holds JSON, an object, an array, or null');
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (Buffer.byteLength(text) > largest) return faulty(`must have at most ${String(largest)} bytes`);
  if (!isJson(text)) return faulty('must be JSON: it cannot be read');
  if (depthOf(text) > deepestData) return faulty(`must not nest deeper than ${String(deepestData)} levels`);
  return { text };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const stringOrBracket = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/g;

/** Returns the levels of objects and arrays in a valid JSON text. */
function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const [sign] of text.matchAll(stringOrBracket)) {
    if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function faulty(message: string): { readonly faults: readonly Fault[] } {
  return { faults: [{ path: 'data', message }] };
}
