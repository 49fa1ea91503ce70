/** Present use of a shared resource by one box. */
export interface BoxUse {
  readonly box: string;
  /** Amount in the resource's own unit: pieces of work, or bytes. */
  readonly used: number;
  readonly waiting: number;
}

/** The use of one shared resource of the process, for its metrics. */
export interface ResourceUse {
  /** The name of the resource in metrics. */
  readonly resource: string;
  /** Returns the present use by box; the box is empty where the sharers are not boxes. */
  uses(): readonly BoxUse[];
  /** Returns the number of refusals since the process started, by box; the boxes beyond a bound are one, `other`. */
  refusals(): ReadonlyMap<string, number>;
}

/** The name under which metrics add up the boxes that have no series of their own. */
const otherBoxes = 'other';

/** Counts refusals by box; see {@link ResourceUse.refusals}. */
export interface RefusalCount {
  readonly byBox: ReadonlyMap<string, number>;
  add(box: string): void;
}

/** Creates a count in which at most `mostBoxes` boxes have a number of their own, first come first served. */
export function createRefusalCount(mostBoxes = 50): RefusalCount {
  const byBox = new Map<string, number>();
  return {
    byBox,
    add(box) {
      const name = byBox.has(box) || byBox.size < mostBoxes ? box : otherBoxes;
      byBox.set(name, (byBox.get(name) ?? 0) + 1);
    },
  };
}

/** Returns the uses of the `most` boxes that use or wait most, and the sum of the others under `other`. */
export function largestUses(uses: readonly BoxUse[], most = 20): readonly BoxUse[] {
  const sorted = [...uses].sort((a, b) => b.used + b.waiting - a.used - a.waiting);
  const rest = sorted.slice(most);
  if (rest.length === 0) return sorted;
  const sum = (part: 'used' | 'waiting'): number => rest.reduce((total, use) => total + use[part], 0);
  return [...sorted.slice(0, most), { box: otherBoxes, used: sum('used'), waiting: sum('waiting') }];
}
