import { errorFacts } from '../../program/log.ts';
import type { Log } from '../../program/log.ts';
import { startRounds } from '../../program/scheduling.ts';
import type { Rounds } from '../../program/scheduling.ts';
import { enterPlacement, placeBox, readPlacement, readPlacements } from '../db/box/placement.ts';
import type { PlacedBox } from '../db/box/placement.ts';
import type { Connections } from '../db/core/pool.ts';

/**
 * The databases of boxes as a replica knows them: a hint. The row of a box in its database tells whether it is there;
 * that of a moved one leads on.
 */
export interface Directory {
  /** Returns the name of the database of a box; undefined: the home database. */
  of(box: string): string | undefined;
  /** Returns the version that a box is known to have been placed at; Infinity for one that is not placed. */
  versionOf(box: string): number;
  /** Takes in what a database or the home database has said of a box. The higher version counts. */
  note(placed: PlacedBox): void;
  /** Asks the home database for a box. Throws Outage. */
  look(box: string): Promise<void>;
  /** Places a new box in a database, unless it is somewhere already. Throws Outage. */
  place(box: string, database: string): Promise<void>;
  /** Enters the database of a box that was moved there in the home database. Throws Outage. */
  enter(placed: PlacedBox): Promise<void>;
  /** Starts to take in what is new every two seconds; while the home database is away, the last state counts. */
  follow(): Rounds;
}

/** Milliseconds between two readings of what is new. */
const period = 2_000;

/** Reads the directory of an installation from its home database. Throws Outage. */
export async function createDirectory(home: Connections, log: Log): Promise<Directory> {
  const boxes = new Map<string, PlacedBox>();
  let newest = 0;

  const note = (placed: PlacedBox): void => {
    newest = Math.max(newest, placed.version);
    if ((boxes.get(placed.box)?.version ?? -1) < placed.version) boxes.set(placed.box, placed);
  };
  const read = async (): Promise<void> => {
    for (const placed of await readPlacements(home, newest)) note(placed);
  };

  await read();
  return {
    of: (box) => boxes.get(box)?.database,
    versionOf: (box) => boxes.get(box)?.version ?? Infinity,
    note,
    async look(box) {
      const placed = await readPlacement(home, box);
      if (placed !== undefined) note(placed);
    },
    async place(box, database) {
      const placed = await placeBox(home, box, database);
      if (placed !== undefined) note(placed);
    },
    async enter(placed) {
      await enterPlacement(home, placed);
      note(placed);
    },
    follow: () =>
      startRounds(period, () =>
        read().catch((error: unknown) => {
          log.warn(errorFacts(error), 'the directory of boxes could not be read; the last one counts');
        }),
      ),
  };
}
