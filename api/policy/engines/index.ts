import type { Engine, RULE_ENGINES } from '../../../crds/access-policy.ts';
import { isList, isObject } from '../../../crds/path.ts';
import { compileCel } from './cel.ts';
import { PolicyEnded, PolicyFault } from './engine.ts';
import type { CompileCost, CompileRule, Rule, RuleFields } from './engine.ts';
import { compileJsonSchema } from './json-schema.ts';
import { compileMatcho } from './matcho.ts';

/** An engine that decides by itself. */
type SimpleEngine = (typeof RULE_ENGINES)[number];

/** Every engine that decides by itself; `complex` combines these. */
export const simpleEngines = {
  /** Grants every request of the subjects that the policy concerns. */
  allow: () => () => true,
  'json-schema': compileJsonSchema,
  matcho: compileMatcho,
  cel: compileCel,
} satisfies Record<SimpleEngine, CompileRule>;

/** Checks whether a stored word names one of them, exactly as written. */
export function isSimpleEngine(name: unknown): name is SimpleEngine {
  return typeof name === 'string' && Object.hasOwn(simpleEngines, name);
}

/** Every engine by its name. */
export const engines = { ...simpleEngines, complex: compileComplex } satisfies Record<Engine, CompileRule>;

/** Checks whether a stored word names an engine, exactly as written: `ALLOW` and `allow ` do not. */
export function isEngine(name: unknown): name is Engine {
  return typeof name === 'string' && Object.hasOwn(engines, name);
}

/** Combines rules of the other engines: grants when all in `and` do, or when one in `or` does. */
function compileComplex({ and, or }: RuleFields, cost: CompileCost): Rule {
  if (and !== undefined && or !== undefined) throw new PolicyFault('or', 'must not stand beside and: give one of them');
  if (and !== undefined) return allOf(rulesOf(and, 'and', cost));
  if (or !== undefined) return oneOf(rulesOf(or, 'or', cost));
  throw new PolicyFault('and', 'must be given, or or: a list of rules of the other engines');
}

function rulesOf(list: unknown, field: string, cost: CompileCost): readonly Rule[] {
  if (!isList(list) || list.length === 0) throw new PolicyFault(field, 'must be a list with at least one rule');
  return list.map((rule, at) => compileNested(rule, `${field}[${at}]`, cost));
}

function compileNested(rule: unknown, path: string, cost: CompileCost): Rule {
  if (!isObject(rule))
    throw new PolicyFault(path, 'must be a rule: an object with engine and the fields of that engine');
  const engine = rule['engine'];
  if (!isSimpleEngine(engine)) {
    throw new PolicyFault(`${path}.engine`, `must be one of ${Object.keys(simpleEngines).join(', ')}`);
  }
  try {
    return simpleEngines[engine]({ ...rule, engine }, cost);
  } catch (error) {
    throw error instanceof PolicyFault ? error.within(path) : error;
  }
}

function allOf(rules: readonly Rule[]): Rule {
  return (request, steps) => rules.every((rule) => rule(request, steps));
}

/**
 * Combines rules with `or`. A rule that fails does not grant; its failure is reported if no other rule grants. After
 * {@link PolicyEnded} none does.
 */
function oneOf(rules: readonly Rule[]): Rule {
  return (request, steps) => {
    let failure: Error | undefined;
    for (const rule of rules) {
      try {
        if (rule(request, steps)) return true;
      } catch (error) {
        if (error instanceof PolicyEnded) throw error;
        failure ??= error instanceof Error ? error : new Error('the rule failed');
      }
    }
    if (failure !== undefined) throw failure;
    return false;
  };
}
