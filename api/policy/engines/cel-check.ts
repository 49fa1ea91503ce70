import { wordHint } from '../../../crds/did-you-mean.ts';
import { parse } from '@bufbuild/cel';
import type { CompileCost } from './engine.ts';
import { isIdField } from '../json-value.ts';
import { linearRegExp } from '../linear-regexp.ts';
import type { LinearRegExp } from '../linear-regexp.ts';
import { partOf, requestFieldFault } from '../request-fields.ts';
import { PolicyFault } from './engine.ts';
import { MACROS, plain, qualifiedName, typeOfFunction, Wrong } from './cel-functions.ts';
import type { Expression, Kind } from './cel-functions.ts';
import { ID, IDS, LONGEST_SOUGHT, LOOP, SEARCHES, soughtTooLong } from './cel-runtime.ts';
import { UNSPENT, VARIABLES } from './cel-values.ts';

/** Result of the check. */
export interface CheckedExpression {
  /** Number of operations, each counted once. */
  readonly nodes: number;
  /** The patterns of `matches`, compiled. */
  readonly expressions: ReadonlyMap<string, LinearRegExp>;
}

/**
 * Checks the types of an expression, as far as they are known: the library has no type check. Unknown names, functions
 * that do not take their arguments and an expression that is not boolean are faults; `dyn` (any value from the request)
 * may be anything, and is checked at run time. Also puts {@link LOOP} around the range of each macro, so that its turns
 * are counted. Throws {@link PolicyFault} with the line and the column.
 */
export function checkExpression(expression: Expression, places: Places, cost: CompileCost): CheckedExpression {
  const check: Check = { places, cost, nodes: 0, expressions: new Map() };
  const type = typeOf(expression, new Map(), check);
  placed(expression, check, () => {
    if (type !== 'bool' && type !== 'dyn')
      throw new Wrong(`must be a boolean expression; this one is of type ${plain(type)}`);
  });
  return check;
}

/** Does a part of the check; the fault that it finds is one at the given part of the expression. */
function placed<T>(at: Expression | undefined, { places }: Check, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    const place = places.of(at?.id);
    throw new PolicyFault('expression', place === '' ? error.message : `is not valid in ${place}: ${error.message}`);
  }
}

interface Check {
  readonly places: Places;
  readonly cost: CompileCost;
  nodes: number;
  readonly expressions: Map<string, LinearRegExp>;
}

/** Types of the variables of the macros around a part. */
type Scope = ReadonlyMap<string, string>;

function typeOf(expression: Expression | undefined, scope: Scope, check: Check): string {
  check.nodes += 1;
  return placed(expression, check, () => typeOfKind(expression?.exprKind, scope, check));
}

function typeOfKind(kind: Expression['exprKind'] | undefined, scope: Scope, check: Check): string {
  switch (kind?.case) {
    case 'constExpr':
      return typeOfConstant(kind.value);
    case 'identExpr':
      return typeOfName(kind.value.name, scope);
    case 'selectExpr':
      return typeOfField(kind.value, scope, check);
    case 'callExpr':
      return typeOfCall(kind.value, scope, check);
    case 'listExpr':
      for (const element of kind.value.elements) typeOf(element, scope, check);
      return 'list';
    case 'structExpr':
      return typeOfMap(kind.value, scope, check);
    case 'comprehensionExpr':
      return typeOfComprehension(kind.value, scope, check);
    case undefined:
      throw new Wrong('is not an expression');
  }
}

const CONSTANT_TYPES = {
  boolValue: 'bool',
  bytesValue: 'bytes',
  doubleValue: 'double',
  int64Value: 'int',
  nullValue: 'null_type',
  stringValue: 'string',
  uint64Value: 'uint',
  // Deprecated in CEL and never created by the parser.
  durationValue: 'dyn',
  timestampValue: 'dyn',
} as const;

function typeOfConstant({ constantKind }: Kind<'constExpr'>): string {
  if (constantKind.case === undefined) throw new Wrong('is not an expression');
  if (constantKind.case === 'int64Value') demandFit(constantKind.value, BigInt.asIntN(64, constantKind.value));
  if (constantKind.case === 'uint64Value') demandFit(constantKind.value, BigInt.asUintN(64, constantKind.value));
  return CONSTANT_TYPES[constantKind.case];
}

function demandFit(value: bigint, kept: bigint): void {
  if (value !== kept) throw new Wrong(`has the number ${value}, which does not fit into 64 bits`);
}

const TYPE_NAMES: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'int',
  'list',
  'map',
  'null_type',
  'string',
  'type',
  'uint',
]);

const TYPES: ReadonlyMap<string, string> = new Map(Object.entries(VARIABLES));

function typeOfName(name: string, scope: Scope): string {
  const type = scope.get(name) ?? TYPES.get(name) ?? (TYPE_NAMES.has(name) ? 'type' : undefined);
  if (type !== undefined) return type;
  const known = Object.keys(VARIABLES);
  throw new Wrong(
    `has the unknown variable ${JSON.stringify(name)}; known are ${known.join(', ')}${wordHint(name, known)}`,
  );
}

function typeOfField({ operand, field, testOnly }: Kind<'selectExpr'>, scope: Scope, check: Check): string {
  const type = typeOf(operand, scope, check);
  if (type !== 'dyn' && type !== 'map')
    throw new Wrong(`reads the field ${JSON.stringify(field)} of type ${plain(type)}, which has none`);
  demandField(operand, field, scope);
  return testOnly ? 'bool' : 'dyn';
}

/** Checks the name of a field that is read of a part of the request; a variable of a macro may hide the part. */
function demandField(of: Expression | undefined, name: string | undefined, scope: Scope): void {
  if (name === undefined || of?.exprKind.case !== 'identExpr' || scope.has(of.exprKind.value.name)) return;
  const fault = requestFieldFault(partOf('request', of.exprKind.value.name), name);
  if (fault !== undefined) throw new Wrong(`reads the field ${JSON.stringify(name)}, which ${fault}`);
}

/** Returns the text of a literal; undefined for any other expression. */
function literalText(expression: Expression | undefined): string | undefined {
  const kind = expression?.exprKind;
  const constant = kind?.case === 'constExpr' ? kind.value.constantKind : undefined;
  return constant?.case === 'stringValue' ? constant.value : undefined;
}

function typeOfMap({ messageName, entries }: Kind<'structExpr'>, scope: Scope, check: Check): string {
  if (messageName !== '') throw new Wrong(`has the unknown type ${JSON.stringify(messageName)}`);
  for (const { keyKind, value } of entries) {
    if (keyKind.case === 'mapKey') typeOf(keyKind.value, scope, check);
    typeOf(value, scope, check);
  }
  return 'map';
}

/** Types `all`, `exists`, `exists_one`, `map` and `filter`, which come from the parser as this one form. */
function typeOfComprehension(macro: Kind<'comprehensionExpr'>, scope: Scope, check: Check): string {
  const range = typeOf(macro.iterRange, scope, check);
  if (range !== 'dyn' && range !== 'list' && range !== 'map')
    throw new Wrong(`cannot walk through type ${plain(range)}`);
  const outside = check.nodes;
  const result = new Map([...scope, [macro.accuVar, typeOf(macro.accuInit, scope, check)]]);
  const inner = new Map([...result, [macro.iterVar, 'dyn']]);
  demandBool(macro.loopCondition, typeOf(macro.loopCondition, inner, check), check);
  typeOf(macro.loopStep, inner, check);
  macro.iterRange = countedRange(macro.iterRange, check.nodes - outside);
  macro.loopCondition = gatedCondition(macro.loopCondition);
  return typeOf(macro.result, result, check);
}

/** Returns `range` as `@loop(range, steps of one turn)`. */
function countedRange(range: Expression | undefined, nodes: number): Expression {
  const { expr } = parse(String(2 + Math.ceil(nodes / 4)));
  if (range === undefined) throw new Wrong('is not an expression');
  return callOf(LOOP, [range, expr]);
}

/** Returns `condition` as `@unspent && condition`: errors do not end a loop in CEL, but used-up steps must. */
function gatedCondition(condition: Expression | undefined): Expression {
  const gate = parse('gate').expr;
  if (condition === undefined || gate.exprKind.case !== 'identExpr') throw new Wrong('is not an expression');
  gate.exprKind.value.name = UNSPENT;
  return callOf('_&&_', [gate, condition]);
}

/** Returns a call that is made of expressions, not of text: no text can name the called function. */
function callOf(name: string, args: Expression[]): Expression {
  const call = parse('call()').expr;
  if (call.exprKind.case !== 'callExpr') throw new Wrong('is not an expression');
  call.exprKind.value.function = name;
  call.exprKind.value.args = args;
  return call;
}

function typeOfCall(call: Kind<'callExpr'>, scope: Scope, check: Check): string {
  const misused = MACROS.get(call.function);
  if (misused !== undefined) throw new Wrong(`must be written otherwise: ${misused}`);
  const qualified = qualifiedName(call);
  if (qualified !== undefined) {
    return typeOfFunction(
      qualified,
      undefined,
      call.args.map((arg) => typeOf(arg, scope, check)),
    );
  }
  const target = call.target && typeOf(call.target, scope, check);
  const args = call.args.map((arg) => typeOf(arg, scope, check));
  switch (call.function) {
    case '_&&_':
    case '_||_':
    case '@not_strictly_false':
      call.args.forEach((arg, at) => demandBool(arg, args[at], check));
      return 'bool';
    case '_?_:_':
      demandBool(call.args[0], args[0], check);
      return args[1] === args[2] ? (args[1] ?? 'dyn') : 'dyn';
    case '_[_]':
      demandField(call.args[0], literalText(call.args[1]), scope);
      return typeOfElement(args);
    case '_==_':
    case '_!=_':
      demandComparable(args);
      compareIds(call, ID);
      return 'bool';
    default:
      if (call.function === 'matches') placed(call.args[0], check, () => compilePattern(call, check));
      if (SEARCHES.has(call.function)) placed(call.args[0], check, () => demandShort(call));
      if (call.function === '@in') compareIds(call, IDS);
      return typeOfFunction(call.function, target, args);
  }
}

/** Makes a comparison treat the two forms of an ID as equal, if a field holds IDs: `@id(left) == @id(right)`. */
function compareIds(call: Kind<'callExpr'>, right: string): void {
  const [one, other] = call.args;
  if (one === undefined || other === undefined || !(readsId(one) || readsId(other))) return;
  call.args = [callOf(ID, [one]), callOf(right, [other])];
}

/** Checks whether an expression reads a field with IDs: `user.id`, `user["group-ids"]`, `user["group-ids"][0]`. */
function readsId({ exprKind: { case: kind, value } }: Expression): boolean {
  if (kind === 'selectExpr') return !value.testOnly && isIdField(value.field);
  if (kind !== 'callExpr' || value.function !== '_[_]') return false;
  const [of, key] = value.args;
  const name = literalText(key);
  if (name !== undefined) return isIdField(name);
  return of !== undefined && readsId(of);
}

function demandBool(expression: Expression | undefined, type: string | undefined, check: Check): void {
  placed(expression, check, () => {
    if (type !== 'bool' && type !== 'dyn') throw new Wrong(`has type ${plain(type)} where true or false must stand`);
  });
}

function typeOfElement([of, key]: readonly string[]): string {
  const isKey = of === 'list' ? key === 'int' || key === 'uint' || key === 'dyn' : of === 'map' || of === 'dyn';
  if (!isKey) throw new Wrong(`reads an element by type ${plain(key)} of type ${plain(of)}, which has none`);
  return 'dyn';
}

const NUMBERS: ReadonlySet<string> = new Set(['int', 'uint', 'double']);

function demandComparable([left = 'dyn', right = 'dyn']: readonly string[]): void {
  const same = left === right || left === 'dyn' || right === 'dyn' || (NUMBERS.has(left) && NUMBERS.has(right));
  if (!same) throw new Wrong(`compares types ${plain(left)} and ${plain(right)}, which are never equal`);
}

/** Compiles a pattern. It must be constant, so that its time is known to be linear and its faults are reported now. */
function compilePattern({ args }: Kind<'callExpr'>, check: Check): void {
  const pattern = literalText(args[0]);
  if (pattern === undefined) throw new Wrong('must give matches one pattern, in quotes');
  try {
    check.expressions.set(pattern, linearRegExp(pattern, check.cost));
  } catch (error) {
    throw new Wrong(
      `has the pattern ${JSON.stringify(pattern)}, which ${error instanceof Error ? error.message : 'is not valid'}`,
    );
  }
}

/** Checks the text of a search that is written into the expression; the runtime checks the others. */
function demandShort({ function: name, args }: Kind<'callExpr'>): void {
  const sought = literalText(args[0]) ?? '';
  if (sought.length > LONGEST_SOUGHT) throw new Wrong(`must be shorter: ${soughtTooLong(name, sought)}`);
}

/** Places of the parts of an expression, by the IDs that the parser gives to them. */
export class Places {
  readonly #text: string;
  readonly #offsets: Readonly<Record<string, number>>;
  /** A rule may fail on each request, always in the same parts. */
  readonly #known = new Map<bigint, string>();

  constructor(text: string, offsets: Readonly<Record<string, number>>) {
    this.#text = text;
    this.#offsets = offsets;
  }

  /** Returns where a part begins, as `line 2, column 5`; an empty text if nothing tells. */
  of(id: bigint | undefined): string {
    if (id === undefined) return '';
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const place = this.#found(this.#offsets[String(id)]);
    this.#known.set(id, place);
    return place;
  }

  #found(offset: number | undefined): string {
    if (offset === undefined) return '';
    // The library counts the space before an operator as part of it.
    const [before = ''] = SPACE.exec(this.#text.slice(offset)) ?? [];
    const lines = this.#text.slice(0, offset + before.length).split('\n');
    return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  }
}

/** White space and comments. */
const SPACE = /^(?:\s|\/\/.*)*/;
