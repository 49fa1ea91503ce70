import { setTimeout as sleep } from 'node:timers/promises';
import { createDeadline, unlessAborted } from '../../program/scheduling.ts';
import type { KeySealing } from '../credentials/key-sealing.ts';
import { readConfigChanges, TooLarge } from '../db/box/config-changes.ts';
import { Arriving, Moved, Outage } from '../db/core/outage.ts';
import type { PlacementOf } from '../db/hot/index.ts';
import { inBoxWithin } from '../db/core/transaction.ts';
import type { Connection } from '../db/core/transaction.ts';
import { requestLimit } from '../db/core/with-connection.ts';
import { checkChanges, createBoxState } from './box-state.ts';
import type { BoxState, CheckedChanges, MovingBoxState } from './box-state.ts';

/** Boxes in memory, within a bound: the least recently used ones are dropped first. */
interface RecentBoxes {
  readonly size: number;
  /** Returns the box and marks it as used now: a lookup and a number. */
  get(box: string): MovingBoxState | undefined;
  /** Stores a new or changed state; it stays, however large it is. */
  put(state: MovingBoxState): void;
  /** Drops a box. */
  drop(box: string): void;
}

/** Default number of clients and policies of the usual size in memory: about 200 MB. */
export const resourcesInMemory = 100_000;

/** Bytes of a client or policy of the usual size, with everything derived from it (measured). */
const usualResource = 2_000;

/** Bytes of memory for a byte of JSON: objects and lists take more than their text. */
const bytesPerByte = 6;

/** Weights of a box and a key, measured in clients and policies of the usual size. */
const ofABox = 5;
const ofAKey = 4;

/** Part that is kept when boxes are dropped, so that the next ones have room. */
const keptOfFull = 0.9;

interface Held {
  readonly state: MovingBoxState;
  weight: number;
  usedAt: number;
}

/** Creates a set of boxes that together take as much memory as `most` clients and policies of the usual size. */
export function createRecentBoxes(most: number): RecentBoxes {
  const boxes = new Map<string, Held>();
  let weight = 0;
  let uses = 0;

  function drop(box: string): void {
    weight -= boxes.get(box)?.weight ?? 0;
    boxes.delete(box);
  }

  function makeRoom(): void {
    if (weight <= most) return;
    const oldestFirst = [...boxes.values()].sort((a, b) => a.usedAt - b.usedAt);
    for (const { state } of oldestFirst.slice(0, -1)) {
      if (weight <= most * keptOfFull) return;
      drop(state.box);
    }
  }

  return {
    drop,
    get size() {
      return boxes.size;
    },
    get(box) {
      const held = boxes.get(box);
      if (held !== undefined) held.usedAt = uses += 1;
      return held?.state;
    },
    put(state) {
      drop(state.box);
      const held = { state, weight: weightOf(state), usedAt: (uses += 1) };
      boxes.set(state.box, held);
      weight += held.weight;
      makeRoom();
    },
  };
}

function weightOf({ keys, size: { resources, bytes } }: MovingBoxState): number {
  return ofABox + ofAKey * keys.all.length + Math.max(resources, (bytes * bytesPerByte) / usualResource);
}

/** The boxes that a replica holds in memory, and the ways to bring one up to date. */
export interface LoadedBoxes {
  readonly size: number;
  get(box: string): BoxState | undefined;
  /** Creates an empty state that is not held: for the effect of changes that are not committed. */
  blank(box: string): MovingBoxState;
  /**
   * Returns the box at that version, or at a newer one in the database. Loads the changes, once for all waiting
   * requests. Undefined if there is no such box. Throws Moved if it is in another database now; Outage, also for a box
   * that takes more memory than allowed.
   */
  load(box: string, atLeast: number): Promise<BoxState | undefined>;
  /** Returns the box for a connection that has locked its row at `version`, even if the database went back. */
  present(connection: Connection, box: string, version: number): Promise<BoxState | undefined>;
}

/** Dependencies of the loaded boxes. */
export interface LoadedBoxesParts {
  readonly placementOf: PlacementOf;
  readonly sealing: KeySealing;
  readonly onUnusable: (box: string, kind: string, id: string, reason: string) => void;
  /** Maximum clients and policies of the usual size in all boxes; beyond it least recently used ones are dropped. */
  readonly most?: number;
}

/** Milliseconds that reading a box may take: a very large one on a slow machine takes longer than a request waits. */
const longestLoad = 5_000;

/** Factor by which one box may exceed the memory for all boxes: beyond that it is not served. */
const largestBox = 2;

/** Creates an empty set of boxes; each is loaded when it is first requested, and again after it was dropped. */
export function createLoadedBoxes({
  placementOf,
  sealing,
  onUnusable,
  most = resourcesInMemory,
}: LoadedBoxesParts): LoadedBoxes {
  const states = createRecentBoxes(most);
  const loading = new Map<string, Promise<BoxState | undefined>>();
  /** Boxes that were too large, with the requested version: they are not measured again before they change. */
  const tooLarge = new Map<string, number>();
  const mostOfOne = (most * usualResource * largestBox) / bytesPerByte;

  async function load(box: string, atLeast: number): Promise<BoxState | undefined> {
    const state = states.get(box);
    if (state !== undefined && state.version >= atLeast) return state;
    if (tooLarge.get(box) === atLeast) throw new Outage('the box takes more memory than a replica has for it');
    const running = loading.get(box);
    // Its failure applies to every waiting request.
    const loaded = running === undefined ? undefined : await answered(running);
    if (loaded !== undefined && loaded.version >= atLeast) return loaded;
    // A load that began after our request reads everything, even if that is less: the database went back.
    return answered(loading.get(box) ?? loadNow(box, atLeast));
  }

  function loadNow(box: string, atLeast: number): Promise<BoxState | undefined> {
    const running = takeChanges(box)
      .catch((error: unknown) => {
        if (error instanceof Moved) states.drop(box);
        return refuseLarge(box, atLeast, error);
      })
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

  async function takeChanges(box: string): Promise<BoxState | undefined> {
    const state = states.get(box) ?? createState(box);
    const read = (connection: Connection) => readConfigChanges(connection, box, state.version, mostOfOne);
    // The rows are checked after it: a large box would hold a connection for seconds, and never end in time.
    const terms = { mode: 'snapshot', limit: longestLoad } as const;
    const changes = await onceArrived(() => inBoxWithin(placementOf(box).pool, box, terms, read));
    if (changes === undefined) {
      states.drop(box);
      return undefined;
    }
    const checked = await checkChanges(changes);
    // A read under a lock may have stored another state meanwhile: that one is correct.
    const held = states.get(box) ?? state;
    return held === state ? take(state, checked) : held;
  }

  /** Applies changes to their state; a whole box replaces that state. */
  function take(held: MovingBoxState, changes: CheckedChanges): BoxState {
    const state = changes.complete && held.version > 0 ? createState(held.box) : held;
    state.take(changes);
    states.put(state);
    return state;
  }

  async function present(connection: Connection, box: string, version: number): Promise<BoxState> {
    const known = states.get(box);
    if (known?.version === version) return known;
    const state = known ?? createState(box);
    const changes = await readConfigChanges(connection, box, state.version, mostOfOne);
    return changes === undefined ? state : take(state, changes);
  }

  function createState(box: string): MovingBoxState {
    return createBoxState(box, sealing, (kind, id, reason) => onUnusable(box, kind, id, reason));
  }

  return {
    load,
    present,
    blank: createState,
    get: (box) => states.get(box),
    get size() {
      return states.size;
    },
  };
}

/** Milliseconds for which a read waits for a box that is being moved: its database serves it a few statements later. */
const longestArrival = 1_000;

/** Repeats a read of a box that has left its database until the new one serves it. Throws what the read throws. */
async function onceArrived<T>(read: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + longestArrival;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Arriving) || performance.now() > deadline) throw error;
    }
    await sleep(20);
  }
}

/** Waits within the time of a request; the load continues for later requests. Throws Outage. */
async function answered<T>(running: Promise<T>): Promise<T> {
  const deadline = createDeadline(requestLimit, () => new Outage('the box is still being read'));
  try {
    return await unlessAborted(running, deadline.signal);
  } finally {
    deadline.lift();
  }
}
