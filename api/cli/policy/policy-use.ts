import type { JsonObject } from '../../../crds/json-value.ts';
import type { PolicyUsage } from '../../schemas/policy-usage.ts';
import type { BoxClient } from '../box-client.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Invocation } from '../command.ts';

/** Members that a row of the table of policies has besides those of the policy. */
export const LAST_USED = '$last_used';
/** See {@link LAST_USED}. */
export const UNUSED = '$unused';

/**
 * Returns listed policies: for a table with their last use, with `--unused` those that have granted nothing for 90
 * days. Without the right to `$usage`, a table has `?` in place of the use. Throws CliError.
 */
export async function withUse(
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
