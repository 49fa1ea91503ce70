import {
  MOST_COUNTED,
  type BoxUsage,
  type ClientLastUse,
  type LastUses,
  type PolicyLastUse,
} from '../client/desired-state.ts';
import { findUse } from '../db/box/box-use.ts';
import { readLastUse, readUsage } from '../db/session/client-usage.ts';
import type { LastUse, UsageSpan } from '../db/session/client-usage.ts';
import { readUsedPolicies } from '../db/request/policy-use.ts';
import type { UsedPolicy } from '../db/request/policy-use.ts';
import { sizesOfGroups } from '../db/user/declared-group.ts';
import type { Connections } from '../db/core/pool.ts';
import { inBoxWithin, type Connection } from '../db/core/transaction.ts';

/** Limits of one call: some tenths of a second's work, regardless of the size of the box. */
const portion = { clients: 200, sessions: MOST_COUNTED, allSessions: 5 * MOST_COUNTED } as const;

/** Memberships to read: a million take some tenths of a second. */
const memberships = { each: MOST_COUNTED, all: 100 * MOST_COUNTED } as const;

/** The limit in milliseconds is much less than a caller waits without hearing a byte, and enough for a cold disk. */
const reading = { mode: 'snapshot', limit: 10_000 } as const;

/** Place of a portion: the box, the cluster that declares its clients, and the client before the first one. */
export type UsagePlace = Pick<UsageSpan, 'box' | 'cluster' | 'after'>;

/**
 * Returns the number of users of a box, the sizes of the groups and the last use of the policies that a cluster
 * declares in it, and the use of the clients that it declares: a portion of them, and the start of the next portion.
 * `now` in milliseconds. Throws Outage.
 */
export async function boxUsage(pool: Connections, { box, cluster, after }: UsagePlace, now: number): Promise<BoxUsage> {
  const span = { box, cluster, after, ...portion };
  const read = async (connection: Connection) => ({
    users: (await findUse(connection, box))?.use.users ?? 0,
    groups: after === '' ? await sizesOfGroups(connection, box, cluster, memberships) : [],
    policies: after === '' ? await readUsedPolicies(connection, box, cluster) : [],
    ...(await readUsage(connection, span, now)),
  });
  const used = await inBoxWithin(pool, box, reading, read);
  const clients = used.clients.map((one) => ({ ...told(one), live_sessions: one.sessions }));
  const { users, groups, next } = used;
  const policies = used.policies.map(lastUseOf);
  return { clients, users, groups, policies, ...(next === undefined ? {} : { next }) };
}

/** Returns the last use of each client that a cluster declares in a box; `now` in milliseconds. Throws Outage. */
export async function lastUses(pool: Connections, box: string, cluster: string, now: number): Promise<LastUses> {
  const found = await inBoxWithin(pool, box, reading, (connection) => readLastUse(connection, box, cluster, now));
  return { clients: found.map(told) };
}

/** Milliseconds. */
const hour = 3_600_000;

/** Returns the last use to the hour: a status that tells of it is written once an hour at most. */
function lastUseOf({ id, lastUsedAt }: UsedPolicy): PolicyLastUse {
  return { id, last_used_at: new Date(Math.floor(lastUsedAt.getTime() / hour) * hour).toISOString() };
}

function told({ id, lastTokenAt, previousUsedAt }: LastUse): ClientLastUse {
  return {
    id,
    ...(lastTokenAt === undefined ? {} : { last_token_at: new Date(lastTokenAt).toISOString() }),
    ...(previousUsedAt === undefined ? {} : { previous_secret_last_used: new Date(previousUsedAt).toISOString() }),
  };
}
