import { isList, isObject } from '../../crds/path.ts';

/** The fields of clients that replicas hold in memory only where a policy of the box can see them. */
export const UNHELD_FIELDS: readonly string[] = ['details', 'description'];

/**
 * Checks whether the rule of a stored policy may see a field of {@link UNHELD_FIELDS} of the request's client. In doubt
 * it may: that costs memory, and a wrong `false` would change decisions.
 */
export function mayReadDetails(policy: unknown): boolean {
  if (!isObject(policy)) return true;
  const { schema, matcho, expression, and, or } = policy;
  const rule = JSON.stringify([schema, matcho, expression, and, or], withoutPlainClients);
  return (
    rule.replaceAll(plainReference, '').includes('client') ||
    /additionalProperties|patternProperties|unevaluatedProperties/.test(rule)
  );
}

/** `client.id` in CEL, `.client.id` in matcho. */
const plainReference = /\bclient\.(?:id|name|active|grant_types|scope|first_party)\b/g;
const plainFields: ReadonlySet<string> = new Set(['id', 'name', 'active', 'grant_types', 'scope', 'first_party']);

/** Leaves out a rule's part about the client if it names other fields only. */
function withoutPlainClients(key: string, value: unknown): unknown {
  return key === 'client' && isObject(value) && isPlain(value) ? undefined : value;
}

function isPlain(value: Readonly<Record<string, unknown>>): boolean {
  const { properties = {}, required = [], type: _, ...others } = value;
  if (!isObject(properties) || !isList(required)) return false;
  const names = [...Object.keys(others), ...Object.keys(properties), ...required];
  // A value may be a path, such as `.client.details`.
  return (
    names.every((name) => typeof name === 'string' && plainFields.has(name)) &&
    !/client|\$ref/.test(JSON.stringify(value))
  );
}
