import { createManagement } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

/** An API in a process of its own, as it ships, behind a proxy that tells it the addresses of its callers. */
export interface Stage {
  readonly port: number;
  readonly database: TestDatabase;
  readonly process: ApiProcess;
  readonly declare: TestApi['declare'];
  /** Has something done when the API has stopped. */
  onStop(end: () => void): void;
  stop(): Promise<void>;
}

/** The box of the victim. */
export const quietBox = 'quiet';
/** The box of the attacker. */
export const rudeBox = 'rude';

/** Starts the API of one attack. */
export async function startStage(settings: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const database = await freshDatabase();
  const process = await startApiProcess(database.apiUrl, { BOXGATE_TRUSTED_PROXIES: '127.0.0.1', ...settings });
  const { declare } = createManagement(process.managementUrl, process.managementKey);
  const ends: (() => void)[] = [];
  return {
    port: Number(new URL(process.url).port),
    database,
    process,
    declare,
    onStop: (end) => void ends.push(end),
    async stop() {
      await process.end('SIGTERM');
      for (const end of ends) end();
      await database.drop();
    },
  };
}
