import { ManagementError } from '../api/client/management-error.ts';
import type { BoxUsage, ClientUsage } from '../api/client/desired-state.ts';
import type { PassContext } from './pass-context.ts';

/** How much a box is used, as it was last asked. */
export interface KnownUsage {
  /** By id. */
  readonly clients: ReadonlyMap<string, ClientUsage>;
  readonly users: number;
}

/** What is remembered of a box's usage. */
export interface UsageMemory {
  known: KnownUsage | undefined;
  /** When it is asked next, in milliseconds since 1970. */
  due: number;
}

/**
 * Asks how much a box is used, once in a period: a client's status is written at most that often for this alone. The first
 * question of a process waits for a random part of the period, so that a restart writes no status of its own. An API that
 * does not answer is asked again at the next sweep; nothing else waits for it.
 */
export async function takeUsage(
  box: string,
  memory: { usage: UsageMemory | undefined },
  { management, cluster, now, random, usagePeriod }: PassContext,
  signal: AbortSignal,
): Promise<void> {
  if (usagePeriod === undefined) return;
  const time = now().getTime();
  memory.usage ??= { known: undefined, due: time + usagePeriod * random() };
  if (time < memory.usage.due) return;
  try {
    memory.usage = { known: knownUsage(await management.usage(box, cluster, signal)), due: time + usagePeriod };
  } catch (error) {
    if (!(error instanceof ManagementError)) throw error;
  }
}

function knownUsage({ clients, users }: BoxUsage): KnownUsage {
  return { clients: new Map(clients.map((client) => [client.id, client])), users };
}
