/** How much lists of the cluster lack: in a box, or in all of them (docs/decisions/0022). */
export interface Missing {
  /** Rows whose objects no list has, and of which a read does not say that they are gone. */
  readonly missing: number;
  /** Rows in all. */
  readonly rows: number;
}

/** What may be missing without anybody wondering: an edit of one file, a namespace with little in it. */
export function isTooMuch({ missing, rows }: Missing): boolean {
  return missing > Math.max(10, rows / 5);
}

/** The sum over boxes. */
export function inAllBoxes(
  boxes: Iterable<{ readonly missing: number; readonly rows: ReadonlyMap<string, unknown> }>,
): Missing {
  let [missing, rows] = [0, 0];
  for (const box of boxes) {
    missing += box.missing;
    rows += box.rows.size;
  }
  return { missing, rows };
}
