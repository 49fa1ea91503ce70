import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startDev } from '../dev-run.ts';
import { percent } from '../figures.ts';
import { makeFolder } from '../folder.ts';
import { verdictOf, type Scenario } from '../scenario.ts';

const clients = 2_000;
/** Threads that the product gives to argon2: one less than there are cores. */
const threads = Math.max(1, availableParallelism() - 1);

const program = fileURLToPath(new URL('../floors/argon2.ts', import.meta.url));

/** A folder whose clients carry chosen secrets: argon2 is nearly all there is to do. */
export const chosenSecrets: Scenario = {
  name: 'chosen-secrets',
  async run(context) {
    const bare = await bareArgon2();
    const manifests = await makeFolder(clients, 'chosen');
    try {
      const begin = performance.now();
      const run = await startDev(manifests.path, await context.postgres.create('folder_chosen'), ['--once']);
      const code = await run.ended;
      const took = performance.now() - begin;
      const times = `${(took / 1000).toFixed(1)} s of ${(bare / 1000).toFixed(1)} s`;
      return [
        {
          what: `${clients} clients with chosen secrets in a folder, against bare argon2 on ${threads} thread(s)`,
          goal: '<= 120 %',
          figure: `${percent(took / bare)} (${times}, exit ${code})`,
          verdict: verdictOf(code === 0 && took / bare <= 1.2),
        },
      ];
    } finally {
      await manifests.remove();
    }
  },
};

/** Milliseconds that as many hashes take with nothing around them. */
async function bareArgon2(): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, String(clients), String(threads)]);
  const result: unknown = JSON.parse(stdout);
  if (typeof result !== 'object' || result === null || !('milliseconds' in result)) throw new Error(stdout);
  return Number(result.milliseconds);
}
