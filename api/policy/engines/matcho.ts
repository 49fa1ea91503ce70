import { wordHint } from '../../../crds/did-you-mean.ts';
import { isList, isObject, memberPath } from '../../../crds/path.ts';
import type { CompileCost, Rule, RuleFields } from './engine.ts';
import { isIdField, isEqual, ownMember } from '../json-value.ts';
import { parseCallerAddress, containsAddress, parseIpNetwork } from '../ip-address.ts';
import { linearRegExp } from '../linear-regexp.ts';
import { PolicyFault } from './engine.ts';
import { partOf, requestFieldFault } from '../request-fields.ts';
import type { KnownObject } from '../request-fields.ts';
import type { RequestObject } from '../request-object.ts';
import type { Steps } from '../steps.ts';

/** A pattern laid over one value; `undefined` is a missing value. */
type Fits = (value: unknown, request: RequestObject, steps: Steps) => boolean;

/** Compiles a rule that grants when the pattern in `matcho` fits the request object. */
export function compileMatcho({ matcho: pattern }: RuleFields, cost: CompileCost): Rule {
  if (!isObject(pattern)) throw new PolicyFault('matcho', 'must be given: a pattern, which is an object');
  const place = { path: 'matcho', isId: false, isAddress: false, isNegated: false, cost };
  const fits = fitsObject(pattern, { ...place, object: 'request' });
  return (request, steps) => fits(request, request, steps);
}

/** Place of a pattern, and the cost that compiling it is charged to. */
interface Place {
  readonly path: string;
  /** The object that the pattern is for, if its names are known. */
  readonly object: KnownObject | undefined;
  /** True if the pattern is for an ID, or for a list of them. */
  readonly isId: boolean;
  /** True if the pattern is for the address of the caller, which may be unknown. */
  readonly isAddress: boolean;
  /** True inside an odd number of `$not`. */
  readonly isNegated: boolean;
  readonly cost: CompileCost;
}

function fitsPattern(pattern: unknown, place: Place): Fits {
  const { path, isId, cost } = place;
  cost.take(1);
  if (typeof pattern === 'string') return fitsText(pattern, place);
  if (isList(pattern)) return fitsList(pattern, place);
  if (isObject(pattern)) return fitsObject(pattern, place);
  if (pattern === null || typeof pattern === 'boolean' || typeof pattern === 'number') return equalTo(pattern, isId);
  throw new PolicyFault(path, 'must be JSON');
}

function fitsText(pattern: string, place: Place): Fits {
  const word = textWords.get(pattern);
  if (word !== undefined) return word;
  if (pattern.startsWith('#')) return comparison(foundExpression(pattern.slice(1), place.path, place.cost), place);
  if (pattern.startsWith('.')) return comparison(equalToPath(pattern, place), place);
  return comparison(equalTo(pattern, place.isId), place);
}

/**
 * Returns a comparison that grants nothing because the caller's address is unknown: it is false for an unknown address,
 * and true inside `$not`, which then is false.
 */
function comparison(fits: Fits, { isAddress, isNegated }: Place): Fits {
  if (!isAddress) return fits;
  return (value, request, steps) => (value === undefined ? isNegated : fits(value, request, steps));
}

const textWords: ReadonlyMap<string, Fits> = new Map<string, Fits>([
  ['present?', counted((value) => value !== undefined && value !== null)],
  ['nil?', counted((value) => value === undefined || value === null)],
  ['not-blank?', counted((value) => typeof value === 'string' && value.trim() !== '')],
]);

function counted(holds: (value: unknown) => boolean): Fits {
  return (value, _request, steps) => {
    steps.take(typeof value === 'string' ? 1 + value.length / 64 : 1);
    return holds(value);
  };
}

function equalTo(literal: unknown, isId: boolean): Fits {
  return (value, _request, steps) => isEqual(value, literal, steps, isId);
}

function foundExpression(source: string, path: string, cost: CompileCost): Fits {
  const expression = faultAt(path, () => linearRegExp(source, cost));
  return (value, _request, steps) => {
    steps.take(1);
    return typeof value === 'string' && expression.isFoundIn(value, steps);
  };
}

/** Compiles a path such as `.user.id`: the value must equal that one of the request, which must exist. */
function equalToPath(pattern: string, { path, isId, isNegated }: Place): Fits {
  const names = pattern.slice(1).split('.');
  if (names.includes('')) throw new PolicyFault(path, `must be a path like ".user.id", not ${JSON.stringify(pattern)}`);
  const [first = '', second] = names;
  const fault = requestFieldFault('request', first);
  if (fault !== undefined) throw new PolicyFault(path, `begins with ${JSON.stringify(first)}, which ${fault}`);
  const unknown = second === undefined ? undefined : requestFieldFault(partOf('request', first), second);
  if (unknown !== undefined) throw new PolicyFault(path, `names ${JSON.stringify(second)}, which ${unknown}`);
  const areIds = isId || names.some(isIdField);
  // As in a comparison with the address.
  const ifUnknown = first === 'remote-addr' && isNegated;
  return (value, request, steps) => {
    steps.take(names.length);
    const other = names.reduce<unknown>(memberOf, request);
    if (other === undefined) return ifUnknown;
    return value !== undefined && isEqual(value, other, steps, areIds);
  };
}

function memberOf(value: unknown, name: string): unknown {
  if (isList(value)) return /^(0|[1-9]\d{0,8})$/.test(name) ? value[Number(name)] : undefined;
  return ownMember(value, name);
}

/** Compiles a list, position by position. As with an object's keys, anything may occur that it does not mention. */
function fitsList(pattern: readonly unknown[], place: Place): Fits {
  const elements = pattern.map((element, at) => fitsPattern(element, inside(place, `${place.path}[${at}]`)));
  return (value, request, steps) => {
    steps.take(1);
    return isList(value) && elements.every((fits, at) => fits(value[at], request, steps));
  };
}

/** Compiles an object: every word (`$not`) and every key must hold. One without words fits objects only. */
function fitsObject(pattern: Readonly<Record<string, unknown>>, place: Place): Fits {
  const entries = Object.entries(pattern);
  const words = entries.filter(([key]) => key.startsWith('$'));
  const holds = words.map(([key, operand]) => fitsWord(key, operand, placeOf(key, place)));
  const members = entries
    .filter(([key]) => !key.startsWith('$'))
    .map(([key, member]) => ({ key, fits: fitsMember(member, key, place) }));
  const mustBeObject = members.length > 0 || words.length === 0;
  return (value, request, steps) => {
    steps.take(1);
    if (!holds.every((fits) => fits(value, request, steps))) return false;
    if (!mustBeObject) return true;
    return isObject(value) && members.every(({ key, fits }) => fits(ownMember(value, key), request, steps));
  };
}

/** Compiles the pattern of a key that is no word. Throws for a name that no request has there. */
function fitsMember(pattern: unknown, key: string, place: Place): Fits {
  const fault = requestFieldFault(place.object, key);
  if (fault !== undefined) throw new PolicyFault(memberPath(place.path, key, false), fault);
  return fitsPattern(pattern, placeOf(key, place));
}

/** Returns the place of a key's pattern. The pattern of `$not` and `$one-of` is for the same value, others are not. */
function placeOf(key: string, place: Place): Place {
  return {
    ...inside(place, memberPath(place.path, key, false)),
    object: key === '$not' || key === '$one-of' ? place.object : partOf(place.object, key),
    isId: key.startsWith('$') ? place.isId : isIdField(key),
    isAddress: key.startsWith('$') ? place.isAddress : place.object === 'request' && key === 'remote-addr',
    isNegated: key === '$not' ? !place.isNegated : place.isNegated,
  };
}

function inside(place: Place, path: string): Place {
  return { ...place, path, object: undefined };
}

function fitsWord(word: string, operand: unknown, place: Place): Fits {
  const { path } = place;
  switch (word) {
    case '$enum':
      return comparison(oneOf(choices(operand, path).map((choice) => equalTo(choice, place.isId))), place);
    case '$one-of':
      return oneOf(
        choices(operand, path).map((pattern, at) => fitsPattern(pattern, { ...place, path: `${path}[${at}]` })),
      );
    case '$not':
      return not(fitsPattern(operand, place));
    case '$contains':
      return someElement(fitsPattern(operand, place));
    case '$every':
      return everyElement(fitsPattern(operand, place));
    case '$cidr':
      return comparison(withinNetwork(operand, path), place);
    default:
      throw new PolicyFault(path, `is not a known word; the words are ${WORDS.join(', ')}${wordHint(word, WORDS)}`);
  }
}

const WORDS = ['$enum', '$one-of', '$not', '$contains', '$every', '$cidr'];

/** Compiles a network: an address within it fits, a text that is none does not. */
function withinNetwork(operand: unknown, path: string): Fits {
  const network = typeof operand === 'string' ? parseIpNetwork(operand) : undefined;
  if (network === undefined) {
    throw new PolicyFault(path, 'must be a network in CIDR notation, such as "10.0.0.0/8" or "2001:db8::/32"');
  }
  return (value, _request, steps) => {
    steps.take(ADDRESS_STEPS);
    const address = typeof value === 'string' ? parseCallerAddress(value) : undefined;
    return address !== undefined && containsAddress(network, address);
  };
}

/** Steps of reading an address: 0.3 microseconds for IPv4, 3 for IPv6. */
const ADDRESS_STEPS = 10;

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
