import type { AccessPolicy, NestedRule } from './access-policy.ts';

/** Keywords of JSON Schema that only describe and never refuse. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
]);

/** The fields of a policy that decide. */
type DecidingFields = Pick<AccessPolicy, 'engine' | 'schema' | 'matcho' | 'expression' | 'and' | 'or'>;

/** Checks whether the rule of a policy grants every request, whatever the engine: it has no condition. */
export function isUnconditional({ and, or, ...rule }: DecidingFields): boolean {
  if (rule.engine !== 'complex') return isRuleUnconditional({ ...rule, engine: rule.engine });
  return and === undefined ? or?.some(isRuleUnconditional) === true : and.every(isRuleUnconditional);
}

function isRuleUnconditional({ engine, schema, matcho, expression }: NestedRule): boolean {
  switch (engine) {
    case 'allow':
      return true;
    case 'matcho':
      return matcho !== undefined && Object.keys(matcho).length === 0;
    case 'json-schema':
      return schema !== undefined && Object.entries(schema).every(([name, value]) => saysNothing(name, value));
    case 'cel':
      return expression?.trim() === 'true';
  }
}

/** Checks whether a keyword has no effect; the request object is always an object. */
function saysNothing(name: string, value: unknown): boolean {
  return ANNOTATIONS.has(name) || (name === 'type' && value === 'object');
}
