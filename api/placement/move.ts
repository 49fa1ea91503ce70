import { underEpoch } from '../apply/calls-in-all.ts';
import { demandEpoch } from '../apply/claims.ts';
import type { Connections } from '../db/core/pool.ts';
import { Outage } from '../db/core/outage.ts';
import { inBoxInTransit } from '../db/core/transaction.ts';
import type { Connection, TransactionMode } from '../db/core/transaction.ts';
import { acceptLoss, readHosts, replaceHosts } from '../db/box/placement.ts';
import * as steps from '../db/box/move.ts';
import type { Databases, ServedDatabase } from './databases.ts';

/** A database that boxes are moved from and to. */
interface MovableDatabase extends ServedDatabase {
  readonly pool: Connections;
}

/** The move of a box, as an operator asks for it. */
export interface Move {
  readonly box: string;
  readonly cluster: string;
  /** The claimed epoch. */
  readonly epoch: number;
  /** The name of the database that the box is to be in. */
  readonly database: string;
}

/** Milliseconds that a step may take besides the copy. */
const stepLimit = 10_000;

/** Milliseconds between two times that a box is told to go on leaving. */
const renewEvery = 1_000;

/**
 * Moves a box to another database: stops its writes, copies its rows, compares both copies, and gives it up in one
 * commit of its present database; only then does the new one serve it. Checks go on until then. It may be repeated at
 * any time: what an earlier call has left is taken up or begun again. Throws Fenced, NoSuchDatabase, Outage.
 */
export async function moveBox<D extends MovableDatabase>(databases: Databases<D>, move: Move): Promise<void> {
  const { box, cluster, epoch, database } = move;
  const target = databases.named(database);
  const source = await present(databases, box);
  if (source !== target) {
    await arrive(databases, source, box);
    // Otherwise each attempt would stop the writes of the box for nothing.
    await target.check();
    const begin = async (connection: Connection): Promise<number> => {
      await demandEpoch(connection, cluster, epoch);
      const loss = { restoredAt: source.restoredAt(), placedAt: databases.versionOf(box), accepted: undefined };
      await acceptLoss(connection, box, loss);
      return steps.beginLeaving(connection, box, database);
    };
    const version = await underEpoch(databases, source, move, () => inTransit(source, box, 'write', begin));
    try {
      await steps.waitForOlder(source.pool);
      await copy(source, target, box, version);
      await inTransit(source, box, 'write', async (connection) => {
        await demandEpoch(connection, cluster, epoch);
        await steps.endLeaving(connection, box, version);
      });
    } catch (error) {
      // The box would take writes again by itself soon.
      await inTransit(source, box, 'write', (connection) => steps.stay(connection, box, version)).catch(
        () => undefined,
      );
      throw error;
    }
  }
  const version = await arrive(databases, target, box);
  if (version !== undefined) await databases.enter(box, target, version);
}

/** Returns the database that a box is in: those that it has left lead on to it. Throws Outage. */
async function present<D extends MovableDatabase>(databases: Databases<D>, box: string): Promise<D> {
  let database = databases.of(box);
  for (const _ of databases.all) {
    const found = await inTransit(database, box, 'snapshot', (connection) => steps.readTransit(connection, box));
    if (found?.transit !== 'moved') return database;
    database = databases.named(found.counterpart ?? '');
  }
  throw new Outage(`The databases of box ${box} lead to each other`);
}

/** Puts a box into service in the database that it has left for; returns its version there. Throws Outage. */
async function arrive<D extends MovableDatabase>(
  { home, named }: Databases<D>,
  target: D,
  box: string,
): Promise<number | undefined> {
  const found = await inTransit(target, box, 'snapshot', (connection) => steps.readTransit(connection, box));
  if (found?.transit !== 'arriving') return found?.version;
  const source = named(found.counterpart ?? '');
  const left = await inTransit(source, box, 'snapshot', (connection) => steps.readTransit(connection, box));
  if (left?.transit !== 'moved' || left.counterpart !== target.name)
    throw new Outage(`Box ${box} has not left the database ${source.name} yet`);
  if (target !== home) await replaceHosts(target.pool, box, 'arriving', await readHosts(home.pool, box));
  if (source !== home) await replaceHosts(source.pool, box, 'moved', []);
  return inTransit(target, box, 'write', (connection) => steps.arrive(connection, box, left.version));
}

function inTransit<T>(
  { pool }: MovableDatabase,
  box: string,
  mode: TransactionMode,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return inBoxInTransit(pool, box, { mode, limit: stepLimit }, work);
}

/** Copies the rows of a box, and compares both copies. Throws Outage. */
async function copy(source: MovableDatabase, target: MovableDatabase, box: string, version: number): Promise<void> {
  let renewed = performance.now();
  const goOn = async (): Promise<void> => {
    if (performance.now() - renewed < renewEvery) return;
    renewed = performance.now();
    await inTransit(source, box, 'write', (connection) => steps.goOnLeaving(connection, box, version));
  };
  const [row, partitions] = await inTransit(source, box, 'snapshot', async (connection) => {
    return [
      await steps.readOwnRow(connection, box, version, source.name),
      await steps.partitionsOf(connection),
    ] as const;
  });
  await steps.makePartitions(target.pool, partitions);
  const arrival = { pool: target.pool, box, version };
  await steps.receiveRows(arrival, 'box', row);
  const left = await steps.readRows(source.pool, box, async (table, rows) => {
    await steps.receiveRows(arrival, table, rows);
    await goOn();
  });
  const arrived = await steps.readRows(target.pool, box, goOn);
  const differing = left.filter(
    ({ rows, digest }, index) => rows !== arrived[index]?.rows || digest !== arrived[index].digest,
  );
  if (differing.length > 0) {
    throw new Outage(`The copies of ${differing.map(({ table }) => table).join(', ')} differ: the move is tried again`);
  }
}
