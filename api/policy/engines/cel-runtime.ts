import {
  celEnv,
  celFunc,
  celList,
  celMethod,
  CelScalar,
  isCelError,
  isCelList,
  isCelMap,
  isCelUint,
  listType,
  plan,
} from '@bufbuild/cel';
import type { CelFunc, CelInput, CelValue } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import type { LinearRegExp } from '../linear-regexp.ts';
import type { Steps } from '../steps.ts';
import { addressFunctions } from './cel-addresses.ts';
import { timeFunctions } from './cel-time.ts';
import { PolicyEnded } from './engine.ts';

/** Input of the functions of one evaluation, next to their arguments. */
export interface Evaluation {
  readonly steps: Steps;
  /** The patterns of `matches` in the expression, compiled. */
  readonly expressions: ReadonlyMap<string, LinearRegExp>;
}

/** Functions that search a text for another one: their time grows with the product of both lengths. */
export const SEARCHES: ReadonlySet<string> = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);
/** Longest text that a search looks for, in characters. */
export const LONGEST_SOUGHT = 256;

/** Name of the function that {@link checkExpression} puts around the range of a macro; no expression can write it. */
export const LOOP = '@loop';
/** Name of the function that converts an ID or a list of them for comparison; no expression can write it. */
export const ID = '@id';
/** Name of the function that does the same with what `in` searches: the elements of a list, the keys of a map. */
export const IDS = '@ids';

/**
 * CEL's standard functions, those of the strings extension that take linear time and Kubernetes' functions of
 * addresses, each taking steps before it works. An evaluation never waits, so one place for the running one is enough:
 * `run` fills it, and empties it at the end.
 */
class CelRuntime {
  readonly #env = celEnv({ funcs: [...standardFunctions().map((func) => this.#counted(func)), ...this.#own()] });
  #running: Evaluation | undefined;
  #ended: PolicyEnded | undefined;

  /** Returns the functions that an expression may call. */
  functions(name: string): readonly CelFunc[] {
    return [...(this.#env.funcs.find(name) ?? [])];
  }

  /** Prepares an expression for evaluation; CEL's errors are values of the result. */
  plan(expression: Parameters<typeof plan>[1]) {
    return plan(this.#env, expression);
  }

  /** Runs an evaluation whose functions take the given steps. Throws {@link PolicyEnded}, which CEL may pass over. */
  run<T>(evaluation: Evaluation, evaluate: () => T): T {
    this.#running = evaluation;
    // CEL's errors are values, often made in a loop and passed over: recording stacks costs ten times the rest.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      const result = evaluate();
      if (this.#ended !== undefined) throw this.#ended;
      return result;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
      this.#running = undefined;
      this.#ended = undefined;
    }
  }

  #now(): Evaluation {
    if (this.#running === undefined) throw new Error('no evaluation is running');
    return this.#running;
  }

  #counted(func: CelFunc): CelFunc {
    const call = (target: CelValue | undefined, args: CelValue[]): CelInput => {
      const { steps } = this.#now();
      steps.take(costOf(func, args));
      if (SEARCHES.has(func.name)) this.#takeSearch(func.name, target, args[0]);
      for (const value of target === undefined ? args : [target, ...args]) weigh(value, func.name, steps);
      const result = func.call(0, target, args);
      // A new error: the one from the function below names no part of the expression.
      if (isCelError(result)) throw new Error(result.message);
      if (result === undefined) throw new Error(`${func.name} does not take these`);
      if (typeof result === 'string') steps.take(result.length / 32);
      if (isCelList(result)) steps.take(result.size / 4);
      return result;
    };
    const { name, target, arguments: takes, result } = func;
    if (target === undefined) return celFunc(name, takes, result, (...args: CelValue[]) => call(undefined, args));
    return celMethod(name, target, takes, result, function counted(this: CelValue, ...args: CelValue[]) {
      return call(this, args);
    });
  }

  #takeSearch(name: string, text: CelValue | undefined, sought: CelValue | undefined): void {
    if (typeof text !== 'string' || typeof sought !== 'string') return;
    if (sought.length > LONGEST_SOUGHT) throw (this.#ended ??= new PolicyEnded(soughtTooLong(name, sought)));
    this.#now().steps.take((text.length * sought.length) / LONGEST_SOUGHT);
  }

  #own(): CelFunc[] {
    const now = () => this.#now();
    return [
      celMethod('matches', CelScalar.STRING, [CelScalar.STRING], CelScalar.BOOL, function matches(pattern) {
        const { steps, expressions } = now();
        const expression = expressions.get(pattern);
        if (expression === undefined) throw new Error('matches takes a pattern in quotes');
        return expression.isFoundIn(this, steps);
      }),
      // CEL's own sum of lists is a chain, and walking a chain of n lists takes n² uncounted steps.
      celFunc('_+_', [LIST, LIST], LIST, (left, right) => {
        now().steps.take((left.size + right.size) / 4);
        return celList([...left, ...right]);
      }),
      celFunc(LOOP, [CelScalar.DYN, CelScalar.INT], CelScalar.DYN, (range, stepsPerTurn) => {
        if (isCelList(range) || isCelMap(range)) now().steps.take(range.size * Number(stepsPerTurn));
        return range;
      }),
      celFunc(ID, [CelScalar.DYN], CelScalar.DYN, (value) => {
        if (isCelList(value)) now().steps.take(1 + value.size);
        return idForm(value);
      }),
      celFunc(IDS, [CelScalar.DYN], CelScalar.DYN, (value) => {
        if (isCelList(value) || isCelMap(value)) now().steps.take(1 + value.size);
        // As everywhere in `in`, a key with the value null is absent.
        if (isCelMap(value)) return celList([...value].flatMap(([key, held]) => (held === null ? [] : [idForm(key)])));
        return idForm(value);
      }),
    ];
  }
}

/** Returns the fault of a search for a text that is too long. */
export function soughtTooLong(name: string, sought: string): string {
  return `${name} takes a text of at most ${LONGEST_SOUGHT} characters, and this one has ${sought.length}`;
}

/** Converts whole numbers to their decimal text, also in a list. */
function idForm(value: CelValue): CelValue {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : value;
  if (isCelUint(value)) return String(value.value);
  return isCelList(value) ? celList(Array.from(value, idForm)) : value;
}

const LIST = listType(CelScalar.DYN);

/** Allowed functions. Left out: `replace` takes quadratic time, `format` and `quote` are for texts that people read. */
const STRING_FUNCTIONS: ReadonlySet<string> = new Set([
  'charAt',
  'indexOf',
  'join',
  'lastIndexOf',
  'lowerAscii',
  'split',
  'substring',
  'trim',
  'upperAscii',
]);

function standardFunctions(): CelFunc[] {
  const inStrings = strings.filter(({ name }) => STRING_FUNCTIONS.has(name));
  return [...celEnv({ funcs: [...inStrings, ...addressFunctions, ...timeFunctions()] }).funcs];
}

/** Returns the cost of a call besides the size of its arguments. A new time zone takes time. */
function costOf(func: CelFunc, args: readonly CelValue[]): number {
  if (func.name.startsWith('get')) return args.length > 0 ? 1000 : 20;
  if (ADDRESS_FUNCTIONS.has(func)) return 30;
  return CASTS.has(func.name) ? 5 : 1;
}

/** Functions that parse an address or two, some microseconds each. */
const ADDRESS_FUNCTIONS: ReadonlySet<CelFunc> = new Set(addressFunctions);

/** Conversions of text: the time of some of them grows faster than the text. */
const CASTS: ReadonlySet<string> = new Set(['double', 'duration', 'int', 'timestamp', 'uint']);

/** Functions that read all of a list or map, and its content. */
const DEEP: ReadonlySet<string> = new Set(['_==_', '_!=_', '@in', 'join']);

function weigh(value: CelValue, func: string, steps: Steps): void {
  if (typeof value === 'string' || value instanceof Uint8Array) {
    steps.take(CASTS.has(func) ? value.length : value.length / 32);
  }
  if (isCelList(value)) {
    steps.take(1 + value.size);
    if (DEEP.has(func)) for (const element of value) weigh(element, func, steps);
  } else if (isCelMap(value) && func !== '@in' && DEEP.has(func)) {
    steps.take(1 + value.size);
    for (const [, member] of value) weigh(member, func, steps);
  }
}

/** The one runtime: its functions hold nothing between two evaluations. */
export const celRuntime = new CelRuntime();
