import { isCelError, parse } from '@bufbuild/cel';
import type { CelError } from '@bufbuild/cel';
import type { CompileCost, Rule, RuleFields } from './engine.ts';
import { compileField, PolicyFault } from './engine.ts';
import { checkExpression, Places } from './cel-check.ts';
import type { Expression } from './cel-functions.ts';
import { celRuntime } from './cel-runtime.ts';
import { CelVariables, UnknownAddress } from './cel-values.ts';

/** Compiles a rule that grants when the expression in `expression` is true (Common Expression Language). */
export function compileCel({ expression }: RuleFields, cost: CompileCost): Rule {
  return compileField('expression', () => compileExpression(expression, cost));
}

function compileExpression(text: unknown, cost: CompileCost): Rule {
  if (typeof text !== 'string' || text.trim() === '') {
    throw new PolicyFault('expression', 'must be given: one boolean expression');
  }
  cost.take(costOf(text));
  const { expression, places } = parsedText(text);
  const { nodes, expressions } = checkExpression(expression, places, cost);
  const evaluate = celRuntime.plan(expression);
  return (request, steps) => {
    steps.take(1 + nodes / 8);
    const result = celRuntime.run({ steps, expressions }, () => evaluate(new CelVariables(request, steps)));
    // CEL lets `… || true` swallow an error; no expression may survive running out of steps.
    steps.take(0);
    if (isCelError(result)) throw new Error(withPlace(result, places));
    if (typeof result !== 'boolean') throw new Error('the expression did not come to true or false');
    return result;
  };
}

/** Returns the message of an error with its place; that of a variable is told of no part of the expression. */
function withPlace({ message, cause, exprId }: CelError, places: Places): string {
  const place = cause instanceof UnknownAddress ? '' : places.of(exprId);
  return place === '' ? message : `${place}: ${message}`;
}

/** Returns the measured cost: 3 to 7 microseconds for each name, number, text or sign, and 0.7 for each character. */
function costOf(text: string): number {
  const signs = text.match(/\w+|"[^"]*"|'[^']*'|[^\s\w]/g)?.length ?? 0;
  return 4 * signs + 0.7 * text.length;
}

function parsedText(text: string): { readonly expression: Expression; readonly places: Places } {
  try {
    // The library ends a comment at the end of its line only.
    const { expr, sourceInfo } = parse(`${text}\n`);
    return { expression: expr, places: new Places(text, sourceInfo?.positions ?? {}) };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new PolicyFault('expression', error instanceof Error ? syntaxSentence(error.message) : 'is not readable');
  }
}

/** Returns `<input>:1:3: found x but expecting …` with the place in words, without the alternatives. */
function syntaxSentence(message: string): string {
  return message
    .replace(/^<input>:(\d+):(\d+):/, 'is not valid in line $1, column $2:')
    .replace(/ but expecting .*$/s, '');
}
