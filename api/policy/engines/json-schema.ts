import type { ErrorObject, ValidateFunction } from 'ajv';
import { isObject } from '../../../crds/path.ts';
import type { CompileCost, Rule, RuleFields } from './engine.ts';
import type { LinearRegExp } from '../linear-regexp.ts';
import { compileField, PolicyFault } from './engine.ts';
import type { RequestObject } from '../request-object.ts';
import type { Steps } from '../steps.ts';
import { checkSchema } from './json-schema-check.ts';
import { dialectOf } from './json-schema-dialect.ts';

/** Compiles a rule that grants when the request object is valid against the JSON Schema in `schema`. */
export function compileJsonSchema({ schema }: RuleFields, cost: CompileCost): Rule {
  const { expressions, validate } = compileField('schema', () => validatorOf(schema, cost));
  // `steps` is `this` of the compiled code: the steps keyword takes them there.
  return (request, steps) => expressions.during(steps, () => validate.call(steps, request));
}

/** Returns the error that makes a request invalid, of the outermost keyword; undefined if it is valid. */
export function schemaError(
  schema: unknown,
  cost: CompileCost,
  request: RequestObject,
  steps: Steps,
): ErrorObject | undefined {
  const { expressions, validate } = validatorOf(schema, cost);
  if (expressions.during(steps, () => validate.call(steps, request))) return undefined;
  return validate.errors?.at(-1);
}

interface Validator {
  readonly expressions: SchemaExpressions;
  readonly validate: ValidateFunction;
}

function validatorOf(schema: unknown, cost: CompileCost): Validator {
  if (!isObject(schema)) throw new PolicyFault('schema', 'must be given: a JSON Schema, which is an object');
  const dialect = dialectOf(schema['$schema']);
  const checked = checkSchema(schema, dialect, cost);
  const fault = dialect.faultOf(schema);
  if (fault !== undefined) throw fault;
  const expressions = new SchemaExpressions(checked.expressions);
  return { expressions, validate: compiled(() => dialect.compile(checked.schema, expressions.isFoundIn)) };
}

/**
 * The regular expressions of a schema. The compiled code gives them a text and nothing else, and a validation never
 * waits: so one place for the steps of the present one is enough.
 */
class SchemaExpressions {
  readonly #expressions: ReadonlyMap<string, LinearRegExp>;
  #steps: Steps | undefined;

  constructor(expressions: ReadonlyMap<string, LinearRegExp>) {
    this.#expressions = expressions;
  }

  /** Runs a validation whose expressions take the given steps. */
  during<T>(steps: Steps, validate: () => T): T {
    this.#steps = steps;
    try {
      return validate();
    } finally {
      this.#steps = undefined;
    }
  }

  readonly isFoundIn = (pattern: string, text: string): boolean => {
    const expression = this.#expressions.get(pattern);
    if (expression === undefined || this.#steps === undefined) throw new Error('unexpected pattern');
    return expression.isFoundIn(text, this.#steps);
  };
}

/** Compiles with ajv. A schema that passes our checks but not ajv is reported in ajv's own words. */
function compiled<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new PolicyFault('schema', error instanceof Error ? error.message : 'does not compile');
  }
}
