import { wordHint } from '../../../crds/did-you-mean.ts';
import type { Fault } from '../../../crds/fault.ts';
import { uuidShape } from '../../db/core/uuid-v7.ts';
import { Problem } from '../../problem.ts';
import type { TimeRange } from '../../db/core/keyset.ts';

/** Comparisons of a date in a search: `ge2026-01-31`; without a prefix it is `eq`. */
const prefixes = ['eq', 'ge', 'gt', 'le', 'lt'] as const;

type Prefix = (typeof prefixes)[number];

/**
 * Returns the range of time that satisfies all date filters. A value is a day (UTC) or a moment with its offset, and
 * covers the time it is precise to: `eq2026-01-31` is that whole day. Throws Problem `bad-request`.
 */
export function readDates(name: string, texts: readonly string[]): TimeRange {
  const ranges = texts.map((text) => readDate(name, text));
  const from = Math.max(...ranges.map((range) => range.from ?? -Infinity));
  const to = Math.min(...ranges.map((range) => range.to ?? Infinity));
  return { from: from === -Infinity ? undefined : from, to: to === Infinity ? undefined : to };
}

function readDate(name: string, text: string): TimeRange {
  const [, prefix = 'eq', value = ''] = /^(eq|ge|gt|le|lt)?(.*)$/s.exec(text) ?? [];
  const { start, end } = readMoment(name, value);
  const ranges: Record<Prefix, TimeRange> = {
    eq: { from: start, to: end },
    ge: { from: start },
    gt: { from: end },
    le: { to: end },
    lt: { to: start },
  };
  return ranges[prefixes.find((one) => one === prefix) ?? 'eq'];
}

const day = 86_400_000;
const dayText = /^\d{4}-\d\d-\d\d$/;
const momentText = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Returns the first millisecond that a value covers, and the first after it. */
function readMoment(name: string, text: string): { readonly start: number; readonly end: number } {
  const span = dayText.test(text) ? day : momentSpan(text);
  const start = Date.parse(text);
  if (span !== undefined && !Number.isNaN(start) && isRealDay(text.slice(0, 10))) return { start, end: start + span };
  const hint = text.includes(' ') ? ' (write + as %2B)' : '';
  throw refusedParameter(name, `must be a date such as ge2026-01-31 or ge2026-01-31T12:00:00Z${hint}`);
}

/**
 * Returns the milliseconds that a moment covers, by its precision: 1000, with `.5` 100, with `.123` one. Times are
 * stored in milliseconds, so `.123456` of Python and `.123456789` of Go and Java cover one too.
 */
function momentSpan(text: string): number | undefined {
  const found = momentText.exec(text);
  return found === null ? undefined : 10 ** Math.max(0, 4 - (found[1] ?? '.').length);
}

/** Checks whether a day exists: Date.parse takes the 31st of February for a day in March. */
function isRealDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

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
