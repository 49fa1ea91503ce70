/** A record of a run: each step of an actor, and how often each kind of step was taken. */
export interface Journal {
  /** Adds a step; `about` is the `namespace/name` of an object, absent for a fault that concerns all of them. */
  note(kind: string, detail?: string, about?: string): void;
  /** The last steps that concern an object, faults of all objects included. */
  of(about: string): readonly string[];
  /** Returns the count of entries of each kind. */
  counts(): Readonly<Record<string, number>>;
}

/** Faults are told of an object as far back as this many steps. */
const remembered = 30;

/** Creates an empty journal, whose clock begins now. */
export function createJournal(): Journal {
  const began = performance.now();
  const entries: { readonly text: string; readonly about: string | undefined }[] = [];
  const counted = new Map<string, number>();
  return {
    note(kind, detail = '', about) {
      counted.set(kind, (counted.get(kind) ?? 0) + 1);
      const at = ((performance.now() - began) / 1000).toFixed(3);
      entries.push({ text: `${at} s: ${kind} ${detail}`.trimEnd(), about });
    },
    of(about) {
      const concerning = entries.filter((entry) => entry.about === undefined || entry.about === about);
      return concerning.slice(-remembered).map(({ text }) => text);
    },
    counts: () => Object.fromEntries([...counted].sort(([one], [other]) => one.localeCompare(other))),
  };
}
