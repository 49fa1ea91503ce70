import { ManagementError } from '../../api/client/management-error.ts';
import type { ClientUsage } from '../../api/client/desired-state.ts';
import type { UsageCache } from '../reconcile/box-cache.ts';
import type { PassContext } from '../reconcile/pass-context.ts';

/** Part of a pass that reading the usage needs. */
export interface UsageReader {
  readonly box: string;
  readonly cache: { usage: UsageCache | undefined };
  readonly context: Pick<PassContext, 'management' | 'cluster' | 'now' | 'random' | 'usagePeriod' | 'onUsageFailure'>;
  readonly signal: AbortSignal;
}

/**
 * Reads the usage of a box, once in a period: a client's status is written at most that often for this alone. A large
 * box is read a portion at each sweep. The first read of a process waits for a random part of the period, so that a
 * restart alone writes no status. An API that does not answer is asked again at the next sweep: the failure is told of,
 * and nothing else waits for it.
 */
export async function takeUsage({ box, cache, context, signal }: UsageReader): Promise<void> {
  const { management, cluster, now, random, usagePeriod, onUsageFailure } = context;
  if (usagePeriod === undefined) return;
  const time = now().getTime();
  cache.usage ??= { known: undefined, due: time + usagePeriod * random(), failed: undefined, round: undefined };
  const { usage } = cache;
  if (time < usage.due) return;
  const { told, after } = usage.round ?? { told: new Map<string, ClientUsage>(), after: '' };
  try {
    const { clients, users, groups, policies, next } = await management.usage(box, cluster, after, signal);
    for (const client of clients) told.set(client.id, client);
    const isWhole = next === undefined;
    usage.known = {
      clients: isWhole ? told : new Map([...(usage.known?.clients ?? []), ...told]),
      users,
      groups:
        after === '' ? new Map(groups.map(({ name, members }) => [name, members])) : (usage.known?.groups ?? new Map()),
      policies:
        after === ''
          ? new Map(policies.map(({ id, last_used_at }) => [id, last_used_at]))
          : (usage.known?.policies ?? new Map()),
    };
    usage.round = isWhole ? undefined : { told, after: next };
    if (isWhole) usage.due = time + usagePeriod;
  } catch (error) {
    if (!(error instanceof ManagementError)) throw error;
    const isNew = usage.failed === undefined || time >= usage.failed + usagePeriod;
    if (isNew) usage.failed = time;
    onUsageFailure?.(box, error, isNew);
  }
}
