import { memberPath } from '../../../crds/path.ts';
import { isEqual, isList, isObject, ownMember } from '../json-value.ts';
import { isFoundIn, linearRegExp } from '../linear-regexp.ts';
import { PolicyFault } from '../policy-fault.ts';
import type { RequestObject } from '../request-object.ts';
import type { Steps } from '../steps.ts';
import type { Rule, RuleEngine } from './engine.ts';

/** Grants when the pattern in `matcho` fits the request object. */
export const matcho: RuleEngine = { name: 'matcho', compile: ({ matcho: pattern }) => compileMatcho(pattern) };

/** A pattern laid over one value; `undefined` is a missing value. */
type Fits = (value: unknown, request: RequestObject, steps: Steps) => boolean;

/** How deep a pattern may nest. */
export const DEEPEST_PATTERN = 64;

function compileMatcho(pattern: unknown): Rule {
  if (!isObject(pattern)) throw new PolicyFault('matcho', 'must be given: a pattern, which is an object');
  const fits = fitsObject(pattern, 'matcho', 0);
  return (request, steps) => fits(request, request, steps);
}

function fitsPattern(pattern: unknown, path: string, depth: number): Fits {
  if (depth > DEEPEST_PATTERN) throw new PolicyFault('matcho', `must not nest deeper than ${DEEPEST_PATTERN} levels`);
  if (typeof pattern === 'string') return fitsText(pattern, path);
  if (isList(pattern)) return fitsList(pattern, path, depth);
  if (isObject(pattern)) return fitsObject(pattern, path, depth);
  if (pattern === null || typeof pattern === 'boolean' || typeof pattern === 'number') return equalTo(pattern);
  throw new PolicyFault(path, 'must be JSON');
}

function fitsText(pattern: string, path: string): Fits {
  const word = textWords.get(pattern);
  if (word !== undefined) return word;
  if (pattern.startsWith('#')) return foundExpression(pattern.slice(1), path);
  if (pattern.startsWith('.')) return equalToPath(pattern, path);
  return equalTo(pattern);
}

const textWords: ReadonlyMap<string, Fits> = new Map<string, Fits>([
  ['present?', counted((value) => value !== undefined && value !== null)],
  ['nil?', counted((value) => value === undefined || value === null)],
  ['not-blank?', counted((value) => typeof value === 'string' && value.trim() !== '')],
]);

function counted(holds: (value: unknown) => boolean): Fits {
  return (value, _request, steps) => {
    steps.take(1);
    return holds(value);
  };
}

function equalTo(literal: unknown): Fits {
  return (value, _request, steps) => isEqual(value, literal, steps);
}

function foundExpression(source: string, path: string): Fits {
  const expression = faultAt(path, () => linearRegExp(source));
  return (value, _request, steps) => {
    steps.take(1);
    return typeof value === 'string' && isFoundIn(expression, value, steps);
  };
}

/** `.user.id`: equal to that value of the request, which must be there. */
function equalToPath(pattern: string, path: string): Fits {
  const names = pattern.slice(1).split('.');
  if (names.includes('')) throw new PolicyFault(path, `must be a path like ".user.id", not ${JSON.stringify(pattern)}`);
  return (value, request, steps) => {
    steps.take(names.length);
    const other = names.reduce<unknown>(memberOf, request);
    return value !== undefined && other !== undefined && isEqual(value, other, steps);
  };
}

function memberOf(value: unknown, name: string): unknown {
  if (isList(value)) return /^(0|[1-9]\d{0,8})$/.test(name) ? value[Number(name)] : undefined;
  return ownMember(value, name);
}

/** Position by position; as with the keys of an object, what the pattern does not mention is free. */
function fitsList(pattern: readonly unknown[], path: string, depth: number): Fits {
  const elements = pattern.map((element, at) => fitsPattern(element, `${path}[${at}]`, depth + 1));
  return (value, request, steps) => {
    steps.take(1);
    return isList(value) && elements.every((fits, at) => fits(value[at], request, steps));
  };
}

/** Every word (`$not`) and every key must hold; an object without words fits objects only. */
function fitsObject(pattern: Readonly<Record<string, unknown>>, path: string, depth: number): Fits {
  const entries = Object.entries(pattern);
  const words = entries.filter(([key]) => key.startsWith('$'));
  const holds = words.map(([key, operand]) => fitsWord(key, operand, memberPath(path, key, false), depth + 1));
  const members = entries
    .filter(([key]) => !key.startsWith('$'))
    .map(([key, member]) => ({ key, fits: fitsPattern(member, memberPath(path, key, false), depth + 1) }));
  const mustBeObject = members.length > 0 || words.length === 0;
  return (value, request, steps) => {
    steps.take(1);
    if (!holds.every((fits) => fits(value, request, steps))) return false;
    if (!mustBeObject) return true;
    return isObject(value) && members.every(({ key, fits }) => fits(ownMember(value, key), request, steps));
  };
}

function fitsWord(word: string, operand: unknown, path: string, depth: number): Fits {
  switch (word) {
    case '$enum':
      return oneOf(choices(operand, path).map(equalTo));
    case '$one-of':
      return oneOf(choices(operand, path).map((pattern, at) => fitsPattern(pattern, `${path}[${at}]`, depth)));
    case '$not':
      return not(fitsPattern(operand, path, depth));
    case '$contains':
      return someElement(fitsPattern(operand, path, depth));
    case '$every':
      return everyElement(fitsPattern(operand, path, depth));
    default:
      throw new PolicyFault(path, `unknown word; the words are ${WORDS.join(', ')}`);
  }
}

const WORDS = ['$enum', '$one-of', '$not', '$contains', '$every'];

function choices(operand: unknown, path: string): readonly unknown[] {
  if (isList(operand) && operand.length > 0) return operand;
  throw new PolicyFault(path, 'must be a list with at least one element');
}

function oneOf(choice: readonly Fits[]): Fits {
  return (value, request, steps) => choice.some((fits) => fits(value, request, steps));
}

function not(fits: Fits): Fits {
  return (value, request, steps) => !fits(value, request, steps);
}

function someElement(fits: Fits): Fits {
  return (value, request, steps) => isList(value) && value.some((element) => fits(element, request, steps));
}

function everyElement(fits: Fits): Fits {
  return (value, request, steps) => isList(value) && value.every((element) => fits(element, request, steps));
}

function faultAt<T>(path: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw new PolicyFault(path, error instanceof Error ? error.message : 'is not valid');
  }
}
