import type { JsonObject } from '../../crds/path.ts';
import type { Command, Invocation } from './command.ts';
import { column } from '../schemas/columns.ts';
import { given, several } from './pages.ts';
import { storedCommands } from './resource.ts';
import type { PolicyUsage } from '../schemas/explanation.ts';
import type { BoxClient } from './box-client.ts';
import { CliError, EXIT } from './cli-error.ts';

/** Members that a row of the table of policies has besides those of the policy. */
const LAST_USED = '$last_used';
/** See {@link LAST_USED}. */
const UNUSED = '$unused';

/**
 * Returns listed policies: for a table with their last use, with `--unused` those that have granted nothing for 90
 * days. Without the right to `$usage`, a table has `?` in place of the use. Throws CliError.
 */
async function withUse(
  policies: readonly JsonObject[],
  { values, box }: Pick<Invocation, 'values' | 'box'>,
): Promise<readonly JsonObject[]> {
  const isTable = (values['output'] ?? 'table') === 'table';
  const isUnusedOnly = values['unused'] === true;
  if (!isTable && !isUnusedOnly) return policies;
  const use = useOf(await usage(await box(), isUnusedOnly), Date.now());
  const wanted = isUnusedOnly ? policies.filter(({ id }) => use(id)[UNUSED] === 'yes') : policies;
  return isTable ? wanted.map((policy) => ({ ...policy, ...use(policy['id']) })) : wanted;
}

/** Reads the last use of policies; undefined without the right to, unless it is needed. Throws CliError. */
async function usage(client: BoxClient, isNeeded: boolean): Promise<PolicyUsage | undefined> {
  const { body } = await client.request('GET', '/AccessPolicy/$usage', { expected: 403 });
  if (body !== undefined || !isNeeded) return body;
  throw new CliError(
    EXIT.refused,
    'no access policy of the box allows this caller GET /AccessPolicy/$usage, which --unused needs',
  );
}

/** The use of a policy, as cells of a table. */
type UseCells = Readonly<Record<typeof LAST_USED | typeof UNUSED, string>>;

/** Milliseconds without a use after which a policy can probably go: 90 days. */
const SPAN = 90 * 86_400_000;

/**
 * Returns the function that tells the use of a policy by its ID. A policy that is younger than 90 days is not unused.
 */
export function useOf(usage: PolicyUsage | undefined, now: number): (id: unknown) => UseCells {
  const policies = new Map(usage?.policies.map((policy) => [policy.id, policy] as const));
  const recordedSince = usage === undefined ? now : Date.parse(usage.recorded_since);
  return (id) => {
    const policy = typeof id === 'string' ? policies.get(id) : undefined;
    if (policy === undefined) return { [LAST_USED]: '?', [UNUSED]: '?' };
    const { created_at, last_used_at } = policy;
    const since = last_used_at === null ? Math.max(Date.parse(created_at), recordedSince) : Date.parse(last_used_at);
    return {
      [LAST_USED]: last_used_at === null ? 'never' : toMinute(last_used_at),
      [UNUSED]: now - since >= SPAN ? 'yes' : 'no',
    };
  };
}

/** Returns a time of the API to the minute, in which the use is recorded. */
function toMinute(time: string): string {
  return time.replace(/:\d\d(?:\.\d+)?Z$/, 'Z');
}

/** `boxctl policy list`, `show`, `new`, `set` and `delete`. */
export const policyCommands: readonly Command[] = storedCommands({
  word: 'policy',
  kind: 'AccessPolicy',
  noun: 'policy',
  listColumns: [column('LAST USED', LAST_USED), column('UNUSED FOR 90 DAYS', UNUSED)],
  listed: withUse,
  listOptions: { unused: { type: 'boolean', summary: 'only those that have granted nothing for 90 days' } },
  filters: {
    engine: { type: 'string', value: '<engine>', summary: 'only those of this engine' },
    subjects: { type: 'string', value: '<subjects>', summary: 'only those for these subjects' },
    link: { type: 'string', value: '<Kind/id>', summary: 'only those that link this client, user or group' },
  },
  fields: {
    engine: { type: 'string', value: '<engine>', summary: 'how it decides: allow, cel, matcho, json-schema, complex' },
    subjects: { type: 'string', value: '<subjects>', summary: 'linked, authenticated or anyone' },
    link: { type: 'string', multiple: true, value: '<Kind/id>', summary: 'a client, user or group that it is for' },
    expression: { type: 'string', value: '<CEL>', summary: 'the rule of the engine cel' },
    description: { type: 'string', value: '<text>', summary: 'what it is for' },
  },
  fieldsOf,
  examples: {
    list: ['boxctl policy list', 'boxctl policy list --link Client/orders', 'boxctl policy list --unused'],
    show: ['boxctl policy show readers'],
    new: [
      'boxctl policy new orders --engine allow --link Client/orders',
      'boxctl policy new readers --engine cel --link Group/staff --expression \'request_method == "get"\'',
      'boxctl policy new readers --file policy.yaml',
    ],
    set: ['boxctl policy set readers --link Group/staff --link Client/orders'],
    delete: ['boxctl policy delete readers'],
  },
});

function fieldsOf({ values }: Invocation): JsonObject {
  const texts = given(values, ['engine', 'subjects', 'expression', 'description']);
  // The same option is the filter of a list, which takes one.
  const links = several(values['link']).map((text) => ({ reference: text }));
  return { ...texts, ...(links.length === 0 ? {} : { link: links }) };
}
