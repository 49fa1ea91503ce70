import { RE2JS } from 're2js';
import { CompileCost } from './engines/engine.ts';
import type { Steps } from './steps.ts';

/** Longest pattern that is accepted, in characters. */
export const LONGEST_PATTERN = 1000;
/** Most states that a pattern may compile to; `[0-9a-f]{32}` has about 35. */
export const MOST_STATES = 1100;

/** A regular expression of RE2: its time is linear in the text, whatever the pattern (`(a+)+$` included). */
export interface LinearRegExp {
  /** Size of its program: a character of a text takes time in proportion to it at worst. */
  readonly states: number;
  /**
   * Checks whether the pattern is found anywhere in the text. Throws TooManySteps when the steps or the time of the
   * decision are used up, also in the middle of the text.
   */
  isFoundIn(text: string, steps: Steps): boolean;
}

/**
 * Compiles a pattern in RE2's syntax, or in JavaScript's where the two agree on the meaning. Throws an Error whose
 * message follows the field's name in a sentence: RE2 has no lookaround and no backreferences. Throws TooCostly.
 */
export function linearRegExp(pattern: string, cost = new CompileCost()): LinearRegExp {
  if (pattern.length > LONGEST_PATTERN) throw new Error(`must have at most ${LONGEST_PATTERN} characters`);
  // Quoting would hide brackets from the count below; a backslash before each character says the same.
  if (pattern.includes('\\Q')) throw new Error('must not quote with \\Q: write a backslash before each character');
  const translated = RE2JS.translateRegExp(pattern);
  // Checked before compiling: `(…){1000}` around a long pattern would take a second and 100 MB before it is refused.
  const most = statesOf(translated);
  if (most > 4 * MOST_STATES) throw tooLarge();
  cost.take(costOf(translated, most));
  const compiled = compiledByRe2(translated);
  const states = compiled.programSize();
  if (states > MOST_STATES) throw tooLarge();
  const { dfa } = compiled.re2();
  dfa.stateBudget = AUTOMATON_BYTES;
  dfa.memBudget = AUTOMATON_BYTES;
  return { states, isFoundIn: (text, steps) => isFound(compiled, states, text, steps) };
}

/** Memory of one expression's automaton, in bytes: a hundred of an ordinary one's states. RE2's default is 8 MB. */
const AUTOMATON_BYTES = 65_536;

/** A text and a program of which the product is less take 0.3 ms at worst, and need no clock. */
const SMALL_WORK = 1024;
const WORK_PER_STEP = 128;

function isFound(expression: RE2JS, states: number, text: string, steps: Steps): boolean {
  const work = text.length * states;
  if (work < SMALL_WORK) {
    steps.take(1 + work / WORK_PER_STEP);
    return expression.test(text);
  }
  steps.take(1 + text.length / WORK_PER_STEP);
  steps.checkTime();
  return expression.re2().match(new ClockedText(text, states, steps));
}

/**
 * A text that throws when it is read after the time of the decision. RE2 reads each character from it, whichever of its
 * automata it uses, and cannot be stopped in another way.
 */
class ClockedText extends String {
  readonly #workPerRead: number;
  readonly #steps: Steps;
  #work = 0;

  constructor(text: string, workPerRead: number, steps: Steps) {
    super(text);
    this.#workPerRead = workPerRead;
    this.#steps = steps;
  }

  override charCodeAt(at: number): number {
    this.#work += this.#workPerRead;
    if (this.#work >= WORK_PER_LOOK) {
      this.#work = 0;
      this.#steps.checkTime();
    }
    return super.charCodeAt(at);
  }
}

/** Measured: 0.1 to 0.3 microseconds for one state and one character that the automaton meets for the first time. */
const WORK_PER_LOOK = 4096;

/**
 * Returns the measured cost, from above: 60 microseconds for any expression, 2 for a state, 120 for a class of Unicode,
 * and 2,500 if case is ignored in a range beyond ASCII, because RE2 then looks at each of its characters.
 */
function costOf(pattern: string, states: number): number {
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  const ignoresCase = /\(\?[a-z]*i/i.test(pattern);
  const ranges = ignoresCase ? (pattern.match(WIDE_RANGE)?.length ?? 0) : 0;
  return 60 + 2 * states + 120 * classes + 2_500 * ranges;
}

/** A range that ends with an escape or with a character beyond ASCII. */
const WIDE_RANGE = /-(?:\\[^\-\]]|[^\0-\x7f])/g;

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
/** An escape: the number in `\\x{0041}` is no repeat. */
const ESCAPE = /\\(?:[xp]\{[^}]*\}|.)/isy;
/** A class; one of POSIX in it, such as `[:alpha:]`, has brackets of its own. */
const CLASS = /\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]/y;

/** Estimates the states of a pattern from above: every character is one, a repeat multiplies the part before it. */
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
      if (character === '\\') at += (textAt(ESCAPE, pattern, at)?.length ?? 1) - 1;
      if (character === '[') at += (textAt(CLASS, pattern, at)?.length ?? 1) - 1;
      sum += 1;
      last = 1;
    }
  }
  return sum;
}

/** Returns the match of a sticky expression at a place. */
function textAt(expression: RegExp, text: string, at: number): string | undefined {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
}
