import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { againstBare } from '../against-bare.ts';
import { atOnce, upTo } from '../at-once.ts';
import { newBox, timeBatch } from '../batch.ts';
import { onCluster, type BenchCluster } from '../cluster.ts';
import { seconds } from '../figures.ts';
import { createChosenSecret, nameOf, withSecretRef } from '../objects.ts';
import type { OperatorScenario } from '../scenario.ts';

/** Threads that the API gives to argon2: one less than there are cores. */
const threads = Math.max(1, availableParallelism() - 1);

const argon2 = fileURLToPath(new URL('../../floors/argon2.ts', import.meta.url));

/** Many clients at once whose secrets somebody chose: argon2 is nearly all there is to do. */
export const secretRefs: OperatorScenario = {
  name: 'secret-refs',
  run: (context) =>
    onCluster(context, async (cluster) => {
      const count = context.small ? 50 : 1_000;
      await cluster.operator();
      const what = `1,000 Clients with secretRef created over 32 connections, until all are live, against bare argon2 on ${threads} thread(s)`;
      const row = await againstBare(what, 1.2, context.rounds, async () => {
        const box = await newBox(cluster);
        await makeSecrets(cluster, box, count);
        const { live, ready } = await timeBatch(cluster, box, count, withSecretRef);
        const bare = await bareArgon2(count);
        context.say(`  live ${seconds(live)}, Ready ${seconds(ready)}; argon2 ${seconds(bare)}`);
        return { ours: live, bare };
      });
      return [row];
    }),
};

function makeSecrets(cluster: BenchCluster, box: string, count: number): Promise<void> {
  return atOnce(
    32,
    upTo(count).map((nth) => nameOf(nth)),
    (name) => createChosenSecret(cluster.plane, box, name),
  );
}

/** Milliseconds that as many hashes take with nothing around them. */
async function bareArgon2(count: number): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [argon2, String(count), String(threads)]);
  const result: unknown = JSON.parse(stdout);
  if (typeof result !== 'object' || result === null || !('milliseconds' in result)) throw new Error(stdout);
  return Number(result.milliseconds);
}
