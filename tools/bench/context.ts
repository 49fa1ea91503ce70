import { fileURLToPath } from 'node:url';
import { startBoxgate, type Boxgate } from './boxgate.ts';
import { startLoad, type LoadGenerator } from './load/client.ts';
import { startPostgres, type BenchPostgres } from './machine/postgres.ts';
import { startServer, type ServerProcess } from './machine/server-process.ts';

/** The servers in floors/ that Boxgate is compared with. */
export type FloorName = keyof typeof floors;

/** Rounds and durations of a run. */
export interface Effort {
  readonly rounds: number;
  /** Seconds of one round that count. */
  readonly seconds: number;
  /** Minutes of the scenario that runs for many. */
  readonly minutes: number;
  /** Boxes of the large installation of `placements`. */
  readonly boxes: number;
}

/** Dependencies of a scenario. Servers start on first use and serve every later scenario of the run. */
export interface BenchContext extends Effort {
  readonly postgres: BenchPostgres;
  readonly load: LoadGenerator;
  floor(name: FloorName): Promise<ServerProcess>;
  /** A further Postgres, known by this name. */
  anotherPostgres(name: string): Promise<BenchPostgres>;
  /** A Boxgate on a database of its own, known by this name; `settings` of its environment beside those that ship. */
  boxgate(name: string, settings?: Record<string, string>): Promise<Boxgate>;
  /** A line for the person who watches. */
  say(line: string): void;
  stop(): Promise<void>;
}

const floors = {
  express: new URL('./floors/express.ts', import.meta.url),
  'insert-batched': new URL('./floors/insert-batched.ts', import.meta.url),
  'oidc-provider-postgres': new URL('./floors/oidc-provider-postgres.ts', import.meta.url),
  'select-batched': new URL('./floors/select-batched.ts', import.meta.url),
};

/** The pool, the statements in flight and the rows of one statement: the floors get what the product ships with. */
const shared = { FLOOR_POOL: '4', FLOOR_STATEMENTS: '2', FLOOR_BATCH: '256' };

/** Starts Postgres and the load generators. */
export async function openContext(effort: Effort, say: (line: string) => void): Promise<BenchContext> {
  const postgres = await startPostgres();
  const load = startLoad();
  const started = new Map<FloorName, Promise<ServerProcess>>();
  const boxgates = new Map<string, Promise<Boxgate>>();
  const others = new Map<string, Promise<BenchPostgres>>();
  return {
    ...effort,
    postgres,
    load,
    say,
    floor: (name) => once(started, name, () => startFloor(postgres, name)),
    anotherPostgres: (name) => once(others, name, startPostgres),
    boxgate: (name, settings = {}) => once(boxgates, name, () => startBoxgate(postgres, name, settings)),
    async stop() {
      load.stop();
      // One that did not start has said so where it was asked for.
      for (const result of await Promise.allSettled([...started.values(), ...boxgates.values(), ...others.values()])) {
        if (result.status === 'fulfilled') await result.value.stop();
      }
      await postgres.stop();
    },
  };
}

async function startFloor(postgres: BenchPostgres, name: FloorName): Promise<ServerProcess> {
  const url = await postgres.create(`floor_${name}`);
  return startServer([fileURLToPath(floors[name])], {
    NODE_ENV: 'production',
    FLOOR_DATABASE_URL: url,
    ...shared,
  });
}

function once<Key, Value>(known: Map<Key, Promise<Value>>, key: Key, make: () => Promise<Value>): Promise<Value> {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}
