import { wordHint } from '../../../crds/did-you-mean.ts';
import type { Fault } from '../../../crds/fault.ts';
import { uuidShape } from '../../db/core/uuid-v7.ts';
import { Problem } from '../../problem.ts';

/** Makes the Problem for a parameter that cannot be used: its name and the demand on it. Its value is not repeated. */
export function refusedParameter(name: string, message: string): Problem {
  const fault: Fault = { path: name, message };
  return new Problem('bad-request', [fault]);
}

/** Reads a whole number without sign, between two bounds. Throws Problem `bad-request`. */
export function readNumber(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw refusedParameter(name, `must be a number from ${String(least)} to ${String(most)}`);
}

/** Reads one of a few words. Throws Problem `bad-request`, which lists them. */
export function readWord<W extends string>(name: string, text: string, words: readonly W[]): W {
  const word = words.find((one) => one === text);
  if (word === undefined) throw refusedParameter(name, `must be one of ${words.join(', ')}${wordHint(text, words)}`);
  return word;
}

/** Reads the id of a user, alone or in a link such as `User/7`. Throws Problem `bad-request`. */
export function readUserId(name: string, text: string): number {
  return readNumber(name, text.replace(/^User\//, ''), 1, Number.MAX_SAFE_INTEGER);
}

/** Returns the id of a client, given alone or in a link such as `Client/web`. */
export function clientIdIn(text: string): string {
  return text.replace(/^Client\//, '');
}

/** Reads the id of a session or a record. Throws Problem `bad-request`, which says of what: `noun`. */
export function readUuid(name: string, text: string, noun: string): string {
  if (uuidShape.test(text)) return text;
  throw refusedParameter(name, `must be the id of a ${noun}, a UUID in lower case`);
}

const textLimit = 1024;

/** Reads any text that can be stored. Throws Problem `bad-request`; U+FFFD replaces bytes that were not UTF-8. */
export function readText(name: string, text: string): string {
  if (text === '' || text.length > textLimit) {
    throw refusedParameter(name, `must have 1 to ${String(textLimit)} characters`);
  }
  if (text.includes('\0') || text.includes('\ufffd') || !text.isWellFormed()) {
    throw refusedParameter(name, 'must be UTF-8 text without the character NUL');
  }
  return text;
}
