import type { Fault } from '../../crds/fault.ts';
import { textFaults } from '../../crds/text.ts';
import { Problem } from '../problem.ts';
import { readJson } from '../read-json.ts';

/** Bytes that the data of a user may have: every check of a token of theirs carries it. */
const largest = 65_536;

/**
 * The JSON text to be stored as a user's `data`: a string that holds JSON is kept as it is, an object or array becomes its
 * JSON text, null is none. Gives the faults instead when it is not JSON or cannot be stored.
 */
export function readUserData(value: unknown): { readonly text: string | null } | { readonly faults: readonly Fault[] } {
  if (value === null) return { text: null };
  if (typeof value !== 'string' && typeof value !== 'object') {
    return faulty('must be a string that holds JSON, an object, an array, or null');
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (Buffer.byteLength(text) > largest) return faulty(`must have at most ${String(largest)} bytes`);
  try {
    const [fault] = textFaults(readJson(text, 'the text'));
    return fault === undefined ? { text } : faulty(sentence(fault));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [fault] = error.faults;
    return faulty(`must be JSON: ${fault === undefined ? 'it cannot be read' : sentence(fault)}`);
  }
}

function faulty(message: string): { readonly faults: readonly Fault[] } {
  return { faults: [{ path: 'data', message }] };
}

function sentence({ path, message }: Fault): string {
  return path === '' ? message : `${path} ${message}`;
}
