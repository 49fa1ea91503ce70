/** A queue of entries that serves boxes in turn. */
export interface FairLine<Entry> {
  readonly length: number;
  add(entry: Entry): void;
  /** Removes and returns at most `most` entries: all of them, or as many of each box as there are turns. */
  take(most: number): Entry[];
  /** Removes and returns the entries that meet a condition. */
  remove(isMeant: (entry: Entry) => boolean): Entry[];
  /** Removes and returns the youngest entry of the longest box; undefined if it has at most one more than `box`. */
  removeYoungest(box: string): Entry | undefined;
}

/** Creates an empty queue. Entries of one box keep their order. */
export function createFairLine<Entry>(boxOf: (entry: Entry) => string): FairLine<Entry> {
  const boxes = new Map<string, Entry[]>();
  let length = 0;

  function add(entry: Entry): void {
    const box = boxOf(entry);
    const entries = boxes.get(box);
    if (entries === undefined) boxes.set(box, [entry]);
    else entries.push(entry);
    length += 1;
  }

  function takeAll(): Entry[] {
    const [first = [], ...others] = boxes.values();
    boxes.clear();
    length = 0;
    return others.length === 0 ? first : [first, ...others].flat();
  }

  /** Takes one round: at most `each` entries of these boxes, `most` together. A box that has more moves to the end. */
  function takeRound(turns: readonly string[], each: number, most: number): Entry[] {
    const taken: Entry[] = [];
    for (const box of turns) {
      const entries = boxes.get(box);
      if (entries === undefined) continue;
      if (taken.length >= most) break;
      taken.push(...entries.splice(0, Math.min(each, most - taken.length)));
      boxes.delete(box);
      if (entries.length > 0) boxes.set(box, entries);
    }
    length -= taken.length;
    return taken;
  }

  return {
    get length() {
      return length;
    },
    add,
    take(most) {
      if (length <= most) return takeAll();
      const taken: Entry[] = [];
      let turns = [...boxes.keys()];
      while (taken.length < most && turns.length > 0) {
        const left = most - taken.length;
        taken.push(...takeRound(turns, Math.max(1, Math.floor(left / turns.length)), left));
        turns = turns.filter((box) => boxes.has(box));
      }
      return taken;
    },
    remove(isMeant) {
      const all = takeAll();
      for (const entry of all) if (!isMeant(entry)) add(entry);
      return all.filter(isMeant);
    },
    removeYoungest(box) {
      const own = boxes.get(box)?.length ?? 0;
      let longest: Entry[] = [];
      for (const entries of boxes.values()) if (entries.length > longest.length) longest = entries;
      if (longest.length <= own + 1) return undefined;
      length -= 1;
      return longest.pop();
    },
  };
}
