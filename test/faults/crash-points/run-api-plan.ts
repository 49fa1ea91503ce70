import type { TestDatabase } from '../../support/postgres.ts';
import type { RestartedApi } from './api-supply.ts';
import type { ApiStory } from './api-stories.ts';
import { createApiWorld, faultOf, type ApiWorld } from './api-world.ts';
import { readRows, type Rows } from './rows.ts';
import type { Plan, WriteLog } from './write-log.ts';

/** Outcome of a story. */
export interface Outcome {
  readonly writes: readonly string[];
  readonly rows: Rows;
  /** The invariants that did not hold, and what was seen. */
  readonly violations: readonly string[];
  /** True if the process was ended as planned. */
  readonly isMet: boolean;
}

/** Processes that the stories run on. */
export interface ApiRig {
  readonly database: TestDatabase;
  readonly api: RestartedApi;
  readonly log: WriteLog;
}

let nth = 0;

/**
 * Plays a story in a new box, and lets the API end as a plan says; then looks whether all is as it was acknowledged.
 */
export async function playApiStory({ database, api, log }: ApiRig, story: ApiStory, plan?: Plan): Promise<Outcome> {
  const world = createApiWorld(api, `story-${String((nth += 1))}`);
  await story.before?.(world);
  log.begin(world.box, plan);
  const violations: string[] = [];
  const stop = probe(world, violations);
  await story.play(world).catch((error: unknown) => {
    violations.push(`I5 the story does not come to its end: ${error instanceof Error ? error.message : 'failed'}`);
  });
  const { writes, isMet } = log;
  log.end();
  await stop();
  for (const expectation of world.expected) {
    const fault = await faultOf(world, expectation);
    if (fault !== undefined) violations.push(`${expectation.status === 401 ? 'I2' : 'I7'} ${fault}`);
  }
  violations.push(...api.unplanned());
  const rows = await readRows(database, world.box, new Map([[world.box, 'BOX']]));
  return { writes, isMet, rows, violations };
}

/** I1: a client that no policy concerns gets nothing, at any moment. */
function probe(world: ApiWorld, violations: string[]): () => Promise<void> {
  let isOver = false;
  const probing = async (): Promise<void> => {
    while (!isOver) {
      for (const by of world.strangers) {
        const { status } = await world.ask('GET', '/Session', { by });
        if (status < 400) violations.push(`I1 a client without a policy got ${String(status)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const done = probing();
  return async () => {
    isOver = true;
    await done;
  };
}
