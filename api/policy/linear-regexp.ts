import { RE2JS } from 're2js';
import type { Steps } from './steps.ts';

/** Longest pattern that is accepted, in characters. */
export const LONGEST_PATTERN = 1000;
/** Most states that a pattern may compile to; `[0-9a-f]{32}` has about 35. */
export const MOST_STATES = 1100;

/** A regular expression of RE2: its time is linear in the text, whatever the pattern (`(a+)+$` included). */
export interface LinearRegExp {
  /** Steps that a test of one character takes. */
  readonly stepsPerCharacter: number;
  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean;
}

/**
 * Compiles a pattern in RE2's syntax, or in JavaScript's where the two agree on the meaning. Throws an Error whose
 * message follows the field's name in a sentence: RE2 has no lookaround and no backreferences.
 */
export function linearRegExp(pattern: string): LinearRegExp {
  if (pattern.length > LONGEST_PATTERN) throw new Error(`must have at most ${LONGEST_PATTERN} characters`);
  // Quoting would hide brackets from the count below; a backslash before each character says the same.
  if (pattern.includes('\\Q')) throw new Error('must not quote with \\Q: write a backslash before each character');
  const translated = RE2JS.translateRegExp(pattern);
  // Asked before compiling: `(…){1000}` around a long pattern would take a second and 100 MB to be told too large.
  if (statesOf(translated) > 20 * MOST_STATES) throw tooLarge();
  const compiled = compiledByRe2(translated);
  const states = compiled.programSize();
  if (states > MOST_STATES) throw tooLarge();
  return { stepsPerCharacter: states * STEPS_PER_STATE, test: (text) => compiled.test(text) };
}

/** Whether the expression is found in the text, taking the steps that this may need at worst. */
export function isFoundIn(expression: LinearRegExp, text: string, steps: Steps): boolean {
  steps.take(1 + text.length * expression.stepsPerCharacter);
  return expression.test(text);
}

/** Measured: 8 microseconds a character at 254 states when RE2 cannot keep its automaton, a fiftieth when it can. */
const STEPS_PER_STATE = 1 / 128;

function compiledByRe2(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(`is not a regular expression of RE2 (${detail(error)})`, { cause: error });
  }
}

function detail(error: unknown): string {
  return error instanceof Error ? error.message.replace('error parsing regexp: ', '') : 'not readable';
}

function tooLarge(): Error {
  return new Error(`is too large a regular expression: it may have ${MOST_STATES} states; repeat shorter parts`);
}

const REPEAT = /\{(\d{1,5})(?:,(\d{0,5}))?\}/y;
const CLASS = /\[\^?\]?(?:\\.|[^\]\\])*\]/y;

/** A rough count of the states of a pattern, from above: every character is one, a repeat multiplies what it follows. */
function statesOf(pattern: string): number {
  const open: number[] = [];
  let sum = 0;
  let last = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const repeat = character === '{' ? textAt(REPEAT, pattern, at) : undefined;
    if (repeat !== undefined) {
      const times = Math.max(1, ...(repeat.match(/\d+/g) ?? []).map(Number));
      sum += last * (times - 1);
      last *= times;
      at += repeat.length - 1;
    } else if (character === '(') {
      open.push(sum);
    } else if (character === ')') {
      last = sum - (open.pop() ?? 0);
    } else {
      if (character === '\\') at += 1;
      if (character === '[') at += (textAt(CLASS, pattern, at)?.length ?? 1) - 1;
      sum += 1;
      last = 1;
    }
  }
  return sum;
}

/** What a sticky expression matches at a place. */
function textAt(expression: RegExp, text: string, at: number): string | undefined {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
}
