import type { BoxHosts, BoxHostsCall, ClusterSettingsCall, StoredHosts } from '../client/cluster.ts';
import type { DeclaredBox } from '../client/desired-state.ts';
import { declaredBoxes } from '../db/box/box.ts';
import { claimEpoch, newestEpoch, raiseEpoch } from '../db/box/cluster-settings.ts';
import { claimAndAdopt } from '../db/box/namespace.ts';
import { Outage } from '../db/core/outage.ts';
import type { Connections } from '../db/core/pool.ts';
import { putHosts, putSettings } from './calls.ts';
import { Fenced } from './claims.ts';
import type { ApplyServices } from './apply.ts';

/** A database of the installation, and what the calls of an operator need of it. */
interface CalledDatabase {
  readonly pool: Connections;
  readonly apply: Pick<ApplyServices, 'pool' | 'revocationsNeedStandby'>;
}

/** The databases of the installation. */
interface CalledDatabases {
  readonly home: CalledDatabase;
  readonly all: readonly CalledDatabase[];
  find(this: void, box: string): CalledDatabase;
}

/**
 * Claims the next epoch of a cluster in the home database, above the highest one that any database which can be reached
 * shows, and tells it to the others; with `older`, everything of that cluster becomes this one's in each of them.
 * Throws Outage.
 */
export async function claimInAll(databases: CalledDatabases, cluster: string, older?: string): Promise<number> {
  const others = databases.all.filter((database) => database !== databases.home);
  const claim = ({ pool }: CalledDatabase, least: number): Promise<number> =>
    older === undefined ? claimEpoch(pool, cluster, least) : claimAndAdopt(pool, cluster, older, least);
  const seen = await Promise.all(others.map(({ pool }) => ifReached(newestEpoch(pool, cluster), 0)));
  let epoch = await claim(databases.home, Math.max(0, ...seen));
  // Adoption that left out a database would leave its boxes with a cluster that is gone. Home has the highest epoch in
  // the end: it is the one that the caller goes on with.
  if (older !== undefined) {
    for (const other of others) epoch = await claim(other, epoch);
    if (others.length > 0) epoch = await claimEpoch(databases.home.pool, cluster, epoch);
  }
  await Promise.all(others.map(({ pool }) => ifReached(raiseEpoch(pool, cluster, epoch), undefined)));
  return epoch;
}

/** The epoch of a cluster that a call names. */
export interface Epoch {
  readonly cluster: string;
  readonly epoch: number;
}

/**
 * Runs a call under an epoch in a database, which hears of the epoch first if it has not: the home database knows
 * whether it is the present one. Throws what the call throws.
 */
export async function underEpoch<T>(
  { home }: { readonly home: Pick<CalledDatabase, 'pool'> },
  { pool }: Pick<CalledDatabase, 'pool'>,
  { cluster, epoch }: Epoch,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const isHome = pool === home.pool;
    if (!(error instanceof Fenced) || isHome || (await newestEpoch(home.pool, cluster)) !== epoch) throw error;
    await raiseEpoch(pool, cluster, epoch);
    return call();
  }
}

/** Returns what the work returns, or `otherwise` if its database cannot answer: its boxes alone have to wait. */
function ifReached<T, O>(work: Promise<T>, otherwise: O): Promise<T | O> {
  return work.catch((error: unknown) => {
    if (error instanceof Outage) return otherwise;
    throw error;
  });
}

/**
 * Stores the settings of a cluster in the home database, and in each other one that can be reached; returns their
 * version in the home database. Throws Fenced, Outage.
 */
export async function settingsInAll(databases: CalledDatabases, call: ClusterSettingsCall): Promise<number> {
  const stored = databases.all.map((database) => {
    const version = underEpoch(databases, database, call, () => putSettings(call, database.apply));
    return database === databases.home ? version : ifReached(version, 0);
  });
  const [version = 0] = await Promise.all(stored);
  return version;
}

/** Returns what a cluster declares in the boxes of every database that can be reached. Throws Outage without home. */
export async function declaredInAll({ home, all }: CalledDatabases, cluster: string): Promise<readonly DeclaredBox[]> {
  const declared = all.map((database) => {
    const boxes = declaredBoxes(database.pool, cluster);
    return database === home ? boxes : ifReached(boxes, []);
  });
  return (await Promise.all(declared)).flat();
}

/**
 * Assigns the hosts of a cluster's boxes: the home database decides which box has a host, and the own database of each
 * box holds those that it has. The boxes of a database that cannot answer keep theirs. Throws Fenced, Outage.
 */
export async function hostsInAll(databases: CalledDatabases, call: BoxHostsCall): Promise<StoredHosts> {
  const { home, all, find } = databases;
  const assign = (database: CalledDatabase, boxes: BoxHostsCall['boxes']): Promise<StoredHosts> =>
    underEpoch(databases, database, call, () => putHosts({ ...call, boxes }, database.apply));
  const answers: StoredHosts[] = [];
  let named = call.boxes;
  for (const other of all.filter((database) => database !== home)) {
    const own = named.filter(({ box }) => find(box) === other);
    const answer = await ifReached(assign(other, own), undefined);
    if (answer === undefined) named = named.filter((box) => !own.includes(box));
    else answers.push(answer);
  }
  const decided = await assign(home, named);
  const refused = new Set(decided.refused.map(({ box, host }) => `${box} ${host}`));
  for (const other of new Set(decided.refused.map(({ box }) => find(box)))) {
    if (other === home) continue;
    const left = named.filter(({ box }) => find(box) === other);
    answers.push(
      await assign(
        other,
        left.map((hosts) => withoutRefused(hosts, refused)),
      ),
    );
  }
  answers.push(decided);
  const isUnnamed = (box: string): boolean => !call.boxes.some((one) => one.box === box);
  return {
    changed: [...new Set(answers.flatMap(({ changed }) => changed))],
    refused: answers.flatMap((answer) => answer.refused),
    unnamed: [...new Set(answers.flatMap(({ unnamed }) => unnamed))].filter(isUnnamed),
  };
}

function withoutRefused({ box, granted, claimed }: BoxHosts, refused: ReadonlySet<string>): BoxHosts {
  const isFree = (host: string): boolean => !refused.has(`${box} ${host}`);
  return { box, granted: granted.filter(isFree), claimed: claimed.filter(isFree) };
}
