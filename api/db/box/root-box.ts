import { batchBounds } from '../core/batch-bounds.ts';
import type { Connections } from '../core/pool.ts';
import { batchesOn } from '../core/statement-batches.ts';
import { fixedText, type Statement } from '../core/statement.ts';

/** A function that finds the only box in service; undefined if there is none, or more than one. Throws Outage. */
export type RootBoxLookup = () => Promise<string | undefined>;

/** Finds the only box for all requests that wait in one statement. None is answered from before it came. */
export function batchedRootBox(pool: Connections): RootBoxLookup {
  const find = batchesOn(pool, { ...batchBounds, inFlight: 1 })(rootBox);
  return async () => (await find(anyRequest)).box;
}

/** Requests at the root differ in nothing that the statement asks for. */
const anyRequest = {};

/** Maximum number of boxes with a resource that are checked for being in service: one machine has fewer. */
const mostInUse = 200;

interface Found {
  readonly box: string | undefined;
}

const rootBox: Statement<object, Found> = {
  boxOf: () => '',
  async run(db, requests) {
    const boxes = await db.rows<{ box: string }>(boxesInService, []);
    const found = { box: boxes.length === 1 ? boxes[0]?.box : undefined };
    return requests.map(() => found);
  },
};

// config_versions omits boxes that are not in service.
const boxesInService = fixedText(
  `SELECT v.box FROM boxgate.config_versions(ARRAY(SELECT box FROM boxgate.boxes_in_use(${String(mostInUse)}))) v LIMIT 2`,
);
