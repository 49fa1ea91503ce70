import type { KeySealing } from '../credentials/key-sealing.ts';
import { readConfigChanges, TooLarge } from '../db/config-changes.ts';
import type { ConfigChanges, ConfigReading } from '../db/config-changes.ts';
import { Outage } from '../db/outage.ts';
import type { Connections } from '../db/pool.ts';
import { inBox } from '../db/transaction.ts';
import type { Connection } from '../db/transaction.ts';
import { requestLimit } from '../db/with-connection.ts';
import { mayReadDetails, UNHELD_FIELDS } from '../policy/reads-details.ts';
import { createBoxState } from './box-state.ts';
import type { BoxState, MovingBoxState } from './box-state.ts';
import { createRecentBoxes, resourcesInMemory } from './recent-boxes.ts';
import { bytesPerCharacter, usualResource } from './resource-weights.ts';

/** The boxes that a replica holds in memory, and the ways to bring one up to date. */
export interface HeldBoxes {
  readonly size: number;
  get(box: string): BoxState | undefined;
  /**
   * The box, at that version or a newer one where the database has it. Loads what moved, once for all who wait.
   * Undefined when there is no such box. Throws Outage, also for a box that takes more memory than one may.
   */
  load(box: string, atLeast: number): Promise<BoxState | undefined>;
  /** The box as a connection sees it that has locked its row at `version`: the truth, also when the database went back. */
  present(connection: Connection, box: string, version: number): Promise<BoxState | undefined>;
}

/** What holding boxes takes. */
export interface HeldBoxesParts {
  readonly pool: Connections;
  readonly sealing: KeySealing;
  readonly onUnusable: (box: string, kind: string, id: string, reason: string) => void;
  /** Clients and policies of the usual size, of all boxes together, beyond which boxes are dropped that were used longest ago. */
  readonly most?: number;
}

/** Milliseconds that reading a box may take: a very large one on a slow machine takes longer than a request may wait. */
const longestLoad = 5_000;

/** One box may take so many times the memory that is meant for all: beyond that it is not served. */
const largestBox = 2;

/** Holds no box yet; each is loaded when it is first asked for, or asked for again after it was dropped. */
export function createHeldBoxes({ pool, sealing, onUnusable, most = resourcesInMemory }: HeldBoxesParts): HeldBoxes {
  const states = createRecentBoxes(most);
  const loading = new Map<string, Promise<BoxState | undefined>>();
  /** Boxes that were too large, with the version that was asked for: they are not measured again before they change. */
  const tooLarge = new Map<string, number>();
  const mostOfOne = (most * usualResource * largestBox) / bytesPerCharacter;

  async function load(box: string, atLeast: number): Promise<BoxState | undefined> {
    const state = states.get(box);
    if (state !== undefined && state.version >= atLeast) return state;
    if (tooLarge.get(box) === atLeast) throw new Outage('the box takes more memory than a replica has for it');
    const running = loading.get(box);
    // Its failure is everybody's.
    const loaded = running === undefined ? undefined : await answered(running);
    if (loaded !== undefined && loaded.version >= atLeast) return loaded;
    // One that began after we asked brings all that there is, also where that is less: the database went back.
    return answered(loading.get(box) ?? loadNow(box, atLeast));
  }

  function loadNow(box: string, atLeast: number): Promise<BoxState | undefined> {
    const work = (connection: Connection) => takeChanges(connection, box);
    const running = inBox(pool, box, 'snapshot', work, longestLoad)
      .catch((error: unknown) => refuseLarge(box, atLeast, error))
      .finally(() => loading.delete(box));
    loading.set(box, running);
    return running;
  }

  function refuseLarge(box: string, atLeast: number, error: unknown): never {
    if (!(error instanceof TooLarge)) throw error;
    tooLarge.set(box, atLeast);
    onUnusable(box, 'Box', box, error.message);
    throw new Outage(error.message, { cause: error });
  }

  async function takeChanges(connection: Connection, box: string): Promise<BoxState | undefined> {
    const state = states.get(box) ?? createState(box);
    const read = await readMoved(connection, state);
    if (read === undefined) {
      states.drop(box);
      return undefined;
    }
    // Who read under a lock may have put another state in its place meanwhile: that one is the truth.
    const held = states.get(box) ?? state;
    return held === state ? take(read.into, read.changes) : held;
  }

  /** Reads the changes, and returns the state to take them into: another one where a policy may see fields that are not held. */
  async function readMoved(connection: Connection, state: MovingBoxState) {
    const changes = await readConfigChanges(connection, state.box, state.version, readingOf(state));
    if (changes === undefined) return undefined;
    if (state.isWhole || !changes.changed.some(({ kind, body }) => kind === 'AccessPolicy' && mayReadDetails(body))) {
      return { changes, into: state };
    }
    const into = createState(state.box, true);
    const all = await readConfigChanges(connection, state.box, into.version, readingOf(into));
    return all === undefined ? undefined : { changes: all, into };
  }

  function readingOf({ isWhole }: MovingBoxState): ConfigReading {
    return { without: isWhole ? [] : UNHELD_FIELDS, most: mostOfOne };
  }

  /** What moved, into the state that it moved from; the whole box, in the place of that state. */
  function take(held: MovingBoxState, changes: ConfigChanges): BoxState {
    const state = changes.complete && held.version > 0 ? createState(held.box, held.isWhole) : held;
    state.take(changes);
    states.put(state);
    return state;
  }

  async function present(connection: Connection, box: string, version: number): Promise<BoxState> {
    const known = states.get(box);
    if (known?.version === version) return known;
    const state = known ?? createState(box);
    const read = await readMoved(connection, state);
    return read === undefined ? state : take(read.into, read.changes);
  }

  function createState(box: string, isWhole = false): MovingBoxState {
    const unusable = (kind: string, id: string, reason: string): void => {
      onUnusable(box, kind, id, reason);
    };
    return createBoxState(box, sealing, unusable, isWhole);
  }

  return {
    load,
    present,
    get: (box) => states.get(box),
    get size() {
      return states.size;
    },
  };
}

/** Within the time that a request has; the load goes on for those who ask next. Throws Outage. */
async function answered<T>(running: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Outage('the box is still being read'));
    }, requestLimit);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}
