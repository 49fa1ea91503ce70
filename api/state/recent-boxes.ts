import type { MovingBoxState } from './box-state.ts';
import { usualResource } from './resource-weights.ts';

/** Boxes in memory, within a bound: those that were used longest ago go first. */
export interface RecentBoxes {
  readonly size: number;
  /** The box, which counts as used now: a lookup and a number. */
  get(box: string): MovingBoxState | undefined;
  /** Holds a state that is new or has moved; it stays, however large it is. */
  put(state: MovingBoxState): void;
  /** Holds a box no longer. */
  drop(box: string): void;
}

/** Clients and policies of the usual size in memory unless a replica is told otherwise: about 200 MB. */
export const resourcesInMemory = 100_000;

/** A client or policy of the usual size is the measure of everything else. */
const ofABox = 5;
const ofAKey = 4;

/** So much is dropped at a time that the next boxes find room. */
const keptOfFull = 0.9;

interface Held {
  readonly state: MovingBoxState;
  weight: number;
  usedAt: number;
}

/** Holds boxes that together take as much memory as `most` clients and policies of the usual size. */
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
