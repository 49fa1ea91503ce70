/** Number of objects that lists of the cluster lack: in a box, or in all of them (decision 16). */
export interface Missing {
  /** Rows whose objects are in no list, and which a read does not confirm as gone. */
  readonly missing: number;
  /** Number of all rows. */
  readonly rows: number;
}

/** Checks whether more is missing than an edit of one file, or a namespace with few objects, can explain. */
export function isMassDeletion({ missing, rows }: Missing): boolean {
  return missing > Math.max(10, rows / 5);
}

/** Returns the sum over all boxes. */
export function inAllBoxes(
  boxes: Iterable<{
    readonly deletions: { readonly missing: number };
    readonly stored: { readonly rows: ReadonlyMap<string, unknown> };
  }>,
): Missing {
  let [missing, rows] = [0, 0];
  for (const box of boxes) {
    missing += box.deletions.missing;
    rows += box.stored.rows.size;
  }
  return { missing, rows };
}
