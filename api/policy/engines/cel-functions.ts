import type { CelFunc, parse } from '@bufbuild/cel';
import { celRuntime } from './cel-runtime.ts';

/** A parsed expression. */
export type Expression = ReturnType<typeof parse>['expr'];
/** The parts of an expression of one kind. */
export type Kind<Case> = Extract<Expression['exprKind'], { case: Case }>['value'];

/** A fault of the part of an expression that is being checked. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
}

/** Faults of calls that the parser does not read as a macro, because they are not written like one. */
export const MACROS: ReadonlyMap<string, string> = new Map([
  ['has', 'has takes one field, such as has(user.id)'],
  ...['all', 'exists', 'exists_one', 'filter', 'map'].map((name): [string, string] => [
    name,
    `${name} takes a name and what is said of it, such as list.${name}(x, x > 1)`,
  ]),
]);

/** Returns the type of a call's result. Throws {@link Wrong} for an unknown function, or arguments it does not take. */
export function typeOfFunction(name: string, target: string | undefined, args: readonly string[]): string {
  const overloads = celRuntime.functions(name);
  if (overloads.length === 0) throw new Wrong(`calls the unknown function ${JSON.stringify(name)}`);
  const fitting = overloads.filter((overload) => takes(overload, target, args));
  const [first] = fitting;
  if (first === undefined) throw new Wrong(`uses ${operator(name)}, which does not take ${given(target, args)}`);
  return fitting.every(({ result }) => result.name === first.result.name) ? first.result.name : 'dyn';
}

/** Returns the name of a function with a namespace, such as `ip.isCanonical`; the runtime prefers it to a method. */
export function qualifiedName({ target, function: name }: Kind<'callExpr'>): string | undefined {
  if (target?.exprKind.case !== 'identExpr') return undefined;
  const qualified = `${target.exprKind.value.name}.${name}`;
  return celRuntime.functions(qualified).length > 0 ? qualified : undefined;
}

function takes(overload: CelFunc, target: string | undefined, args: readonly string[]): boolean {
  if ((overload.target === undefined) !== (target === undefined)) return false;
  if (overload.target !== undefined && !isA(target, overload.target.name)) return false;
  const wanted = overload.arguments;
  return wanted.length === args.length && wanted.every(({ name }, at) => isA(args[at], name));
}

function isA(type: string | undefined, wanted: string): boolean {
  return type === wanted || type === 'dyn' || wanted === 'dyn';
}

function given(target: string | undefined, args: readonly string[]): string {
  const types = args.map(plain).join(', ');
  return target === undefined ? `(${types})` : `(${types}) of type ${plain(target)}`;
}

/** Returns the sign of an operator as it is written: `+` for `_+_`. */
function operator(name: string): string {
  return name.replace(/^[@_]+|_+$/g, '');
}

/** Returns a type's name as people write it. */
export function plain(type = 'value'): string {
  if (type.startsWith('google.protobuf.')) return type.replace('google.protobuf.', '').toLowerCase();
  return type === 'null_type' ? 'null' : type;
}
