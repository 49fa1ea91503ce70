import { setTimeout as sleep } from 'node:timers/promises';
import { databaseSuffix } from '../../program/environment.ts';
import { errorFacts } from '../../program/log.ts';
import type { Log } from '../../program/log.ts';
import { adviceFor, Moved, Outage } from '../db/core/outage.ts';
import { dataMissing, Problem } from '../problem.ts';
import type { Directory } from './directory.ts';

/** One of the databases that boxes are placed on. */
export interface ServedDatabase {
  readonly name: string;
  /** Returns the time of its last restore in microseconds since 1970; 0: none. */
  readonly restoredAt: () => number;
  /** Resolves if it can serve its boxes; throws the reason. */
  check(): Promise<void>;
}

/** A database, and whether it serves its boxes yet. */
interface Entry<D> {
  readonly database: D;
  /** Reason why it does not; undefined: it does. */
  fault: Error | undefined;
}

/** The databases of an installation, by what a replica knows of them. */
export interface Databases<D extends ServedDatabase> {
  readonly home: D;
  readonly all: readonly D[];
  /** Returns the database of a box. Throws Outage while it does not serve, and Problem if the settings have it not. */
  of(this: void, box: string): D;
  /** Returns the same, even if it does not serve; the home database where the settings have it not. */
  find(this: void, box: string): D;
  /**
   * Runs work with the database of a box; follows the box if it has been moved, and to where the home database has
   * placed it if the work finds no such box (undefined). Throws what the work throws.
   */
  following<T>(box: string, work: (database: D) => Promise<T | undefined>): Promise<T | undefined>;
  /** Returns a database that serves. Throws NoSuchDatabase if the settings have none of this name, and Outage. */
  named(this: void, name: string): D;
  /** Enters a box in the home database that was moved to another one, under its version there. Throws Outage. */
  enter(this: void, box: string, database: D, version: number): Promise<void>;
  /** Returns the version that a box is known to have been placed at; Infinity for one that is not placed. */
  versionOf(this: void, box: string): number;
  /** Takes in that a box has been moved. */
  moved(this: void, box: string, to: Moved): void;
  /** Returns the database for the declarations of a box, and places a new one. Throws Outage, Problem. */
  place(box: string, wanted: string | undefined): Promise<D>;
  /** Resolves if at least one can serve; throws the reason of the first one that cannot. */
  ready(this: void): Promise<void>;
  /** Returns the reason of each database that cannot serve, and undefined for each that can, by name. */
  states(this: void): Promise<ReadonlyMap<string, string | undefined>>;
  /** Begins to serve the others than home, each as soon as it can; `begin` throws why it cannot yet. */
  beginOthers(begin: (database: D) => Promise<void>, signal: AbortSignal): Promise<void>;
}

/** A box that was moved there and back in one request is followed no further. */
const mostMoves = 3;

/** Milliseconds between two attempts to begin. */
const pause = 1_000;

/** Creates the databases of an installation; the first one, home, serves already. */
export function createDatabases<D extends ServedDatabase>(
  [home, ...others]: readonly [D, ...D[]],
  directory: Directory,
  { defaultDatabase, log }: { readonly defaultDatabase: string; readonly log: Log },
): Databases<D> {
  const entries = new Map<string, Entry<D>>([[home.name, { database: home, fault: undefined }]]);
  for (const database of others) {
    entries.set(database.name, { database, fault: new Outage(`The database ${database.name} was not reached yet`) });
  }

  function named(name: string): D {
    const entry = entries.get(name);
    if (entry === undefined) throw noSuchDatabase(name, [...entries.keys()]);
    return serving(entry);
  }

  function of(box: string): D {
    const name = directory.of(box);
    if (name === undefined) return home;
    const entry = entries.get(name);
    if (entry === undefined) throw unknownDatabase(name);
    return serving(entry);
  }

  function moved(box: string, { database, version }: Moved): void {
    directory.note({ box, database, version });
  }

  return {
    home,
    all: [home, ...others],
    of,
    find: (box) => entries.get(directory.of(box) ?? home.name)?.database ?? home,
    moved,
    versionOf: (box) => directory.versionOf(box),
    named,
    enter: (box, { name: database }, version) => directory.enter({ box, database, version }),
    async following(box, work) {
      for (let moves = 0; ; moves += 1) {
        try {
          const database = of(box);
          const found = await work(database);
          if (found !== undefined || entries.size === 1 || moves === mostMoves) return found;
          await directory.look(box);
          // Another request may have taken it in meanwhile.
          if (of(box) !== database) continue;
          if (directory.versionOf(box) < database.restoredAt()) throw dataMissing();
          return undefined;
        } catch (error) {
          if (!(error instanceof Moved) || moves === mostMoves) throw error;
          moved(box, error);
        }
      }
    },
    async place(box, wanted) {
      if (wanted !== undefined && !entries.has(wanted)) throw noSuchDatabase(wanted, [...entries.keys()]);
      const name = wanted ?? defaultDatabase;
      if (directory.of(box) === undefined && entries.size > 1) await directory.look(box);
      if (directory.of(box) === undefined && name !== home.name) await directory.place(box, name);
      return of(box);
    },
    async ready() {
      const states = await Promise.all([...entries.values()].map(stateOf));
      const [first] = states;
      if (first !== undefined && states.every((state) => state !== undefined)) throw first;
    },
    async states() {
      const told = async ([name, entry]: readonly [string, Entry<D>]) => {
        const state = await stateOf(entry);
        const reason = state instanceof Outage ? adviceFor(state) : state?.message;
        const variable = `BOXGATE_DATABASE_URL${name === home.name ? '' : databaseSuffix(name)}`;
        return [name, reason?.replaceAll('BOXGATE_DATABASE_URL', variable)] as const;
      };
      return new Map(await Promise.all([...entries].map(told)));
    },
    async beginOthers(start, signal) {
      const waiting = [...entries.values()].filter(({ fault }) => fault !== undefined);
      await Promise.all(waiting.map((entry) => begin(entry, start, { signal, log })));
    },
  };
}

/** Tries again and again to begin to serve a database, until it does or `signal` is aborted. */
async function begin<D extends ServedDatabase>(
  entry: Entry<D>,
  start: (database: D) => Promise<void>,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Log },
): Promise<void> {
  let told = '';
  while (!signal.aborted) {
    try {
      await start(entry.database);
      entry.fault = undefined;
      if (told !== '') log.info({ database: entry.database.name }, 'the database serves its boxes');
      return;
    } catch (error) {
      entry.fault = error instanceof Outage ? error : refused(entry.database.name, error);
      if (entry.fault.message !== told) {
        log.warn({ ...errorFacts(error), database: entry.database.name }, 'the database does not serve its boxes yet');
      }
      told = entry.fault.message;
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns a database that serves. Throws the reason why it does not. */
function serving<D>({ database, fault }: Entry<D>): D {
  if (fault !== undefined) throw fault;
  return database;
}

/** Returns why a database cannot serve; undefined: it can. */
async function stateOf({ database, fault }: Entry<ServedDatabase>): Promise<Error | undefined> {
  return (
    fault ??
    database.check().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    )
  );
}

/** Error of a declaration that wants a database which the settings do not have. */
export class NoSuchDatabase extends Error {
  override readonly name = 'NoSuchDatabase';
}

function noSuchDatabase(name: string, known: readonly string[]): NoSuchDatabase {
  return new NoSuchDatabase(`There is no database ${name}; the databases are ${known.join(', ')}`);
}

/** The reason of a database that must not serve is for the log alone; who asks may come again. */
function refused(name: string, cause: unknown): Outage {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Outage(`The database ${name} must not serve: ${reason}`, { cause });
}

function unknownDatabase(name: string): Problem {
  const message = `DatabaseUnknown: the database ${name} of this box is not among the settings of the service`;
  return new Problem('unavailable', message, { 'Retry-After': '10' });
}
