import type { MovingBoxState } from './box-state.ts';
import { usualResource } from './resource-weights.ts';

/** Boxes in memory, within a bound: the least recently used ones are dropped first. */
export interface RecentBoxes {
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

function weightOf({ keys, bytes }: MovingBoxState): number {
  return ofABox + ofAKey * keys.all.length + bytes / usualResource;
}
