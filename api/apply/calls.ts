import type {
  ClusterSettingsCall,
  BoxHostsCall,
  StoredHosts,
  PinnedServiceAccount,
  ServiceAccountsCall,
} from '../client/cluster.ts';
import { storeClusterSettings } from '../db/box/cluster-settings.ts';
import { demandStandby, bumpVersion } from '../db/box/box.ts';
import { outsideBoxes, inBox, inBoxWithin, type Connection } from '../db/core/transaction.ts';
import { demandEpoch } from './claims.ts';
import type { ApplyServices } from './apply.ts';
import { assignHosts } from '../db/box/box-host.ts';
import type { Connections } from '../db/core/pool.ts';
import { lockResources, revokeClients } from '../db/resource/write.ts';
import { readPins, storeSeen } from '../db/client-auth/service-account-pin.ts';
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
import { readUsedPolicies } from '../db/request/recorded-request.ts';
import type { UsedPolicy } from '../db/request/recorded-request.ts';
import { sizesOfGroups } from '../db/declared-group.ts';

/** Limits of one call: some tenths of a second's work, regardless of the size of the box. */
const portion = { clients: 200, sessions: MOST_COUNTED, allSessions: 5 * MOST_COUNTED } as const;

/** Memberships to read: a million take some tenths of a second. */
const memberships = { each: MOST_COUNTED, all: 100 * MOST_COUNTED } as const;

/** The limit in milliseconds is much less than a caller waits without hearing a byte, and enough for a cold disk. */
const reading = { mode: 'snapshot', limit: 10_000 } as const;

/** Place of a portion: the box, the cluster that declares its clients, and the client before the first one. */
type UsagePlace = Pick<UsageSpan, 'box' | 'cluster' | 'after'>;

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

/** Milliseconds: an apply that relies on a host holds it until it has ended. */
const assignLimit = 60_000;

/**
 * Assigns the hosts of a cluster's boxes, all in one transaction; no request that begins after this has returned finds
 * a box under a host that it has lost. Throws Fenced, Outage.
 */
export function putHosts(
  { cluster, epoch, default_issuers, boxes }: BoxHostsCall,
  { pool, revocationsNeedStandby }: Pick<ApplyServices, 'pool' | 'revocationsNeedStandby'>,
): Promise<StoredHosts> {
  const write = async (connection: Parameters<typeof assignHosts>[0]): Promise<StoredHosts> => {
    if (revocationsNeedStandby) await demandStandby(connection);
    await demandEpoch(connection, cluster, epoch);
    return assignHosts(connection, cluster, default_issuers, boxes);
  };
  return outsideBoxes(pool, write, assignLimit);
}

/**
 * Stores the settings of a cluster for the API; returns their version. A key that is left out serves no request that
 * begins after this has returned: those that need keys ask Postgres for their version. Throws Fenced, Outage.
 */
export function putSettings(
  { cluster, epoch, service_accounts }: ClusterSettingsCall,
  { pool, revocationsNeedStandby }: Pick<ApplyServices, 'pool' | 'revocationsNeedStandby'>,
): Promise<number> {
  return outsideBoxes(pool, async (connection) => {
    if (revocationsNeedStandby) await demandStandby(connection);
    await demandEpoch(connection, cluster, epoch);
    return storeClusterSettings(connection, cluster, service_accounts ?? undefined);
  });
}

/**
 * Stores which pinned ServiceAccounts of a box are gone, and revokes all sessions of each client that has lost one;
 * returns the pins. No request that begins after this has returned accepts one of their tokens. Throws Fenced, Outage.
 */
export async function followServiceAccounts(
  box: string,
  { cluster, epoch, seen }: ServiceAccountsCall,
  { pool, revocationsNeedStandby }: Pick<ApplyServices, 'pool' | 'revocationsNeedStandby'>,
): Promise<readonly PinnedServiceAccount[]> {
  const store = async (connection: Connection): Promise<void> => {
    if (revocationsNeedStandby) await demandStandby(connection);
    await demandEpoch(connection, cluster, epoch);
    if ((await lockResources(connection, box)) === undefined) return;
    const lost = await storeSeen(connection, box, cluster, seen);
    if (lost.length > 0) await revokeClients(connection, box, await bumpVersion(connection, box), lost);
  };
  if (seen.length > 0) await inBox(pool, box, 'write', store);
  return inBox(pool, box, 'snapshot', (connection) => readPins(connection, box, cluster));
}
