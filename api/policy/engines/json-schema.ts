import { isObject } from '../json-value.ts';
import { compileField, PolicyFault } from '../policy-fault.ts';
import type { Rule, RuleEngine } from './engine.ts';
import { checkSchema } from './json-schema-check.ts';
import { dialectOf } from './json-schema-dialect.ts';

/** Grants when the request object is valid against the JSON Schema in `schema`. */
export const jsonSchema: RuleEngine = {
  name: 'json-schema',
  compile: ({ schema }) => compileField('schema', () => compileSchema(schema)),
};

function compileSchema(schema: unknown): Rule {
  if (!isObject(schema)) throw new PolicyFault('schema', 'must be given: a JSON Schema, which is an object');
  const dialect = dialectOf(schema['$schema']);
  const checked = checkSchema(schema, dialect);
  const fault = dialect.faultOf(schema);
  if (fault !== undefined) throw fault;
  const validate = compiled(() => dialect.compile(checked.schema, checked.expressions));
  // `steps` is `this` of the compiled code: its keyword that counts takes them there.
  return (request, steps) => validate.call(steps, request);
}

/** What the check and the meta-schema let through and ajv still refuses is told in ajv's own words. */
function compiled<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new PolicyFault('schema', error instanceof Error ? error.message : 'does not compile');
  }
}
