import { isObject, parseJson } from '../../../crds/json-value.ts';
import { fileURLToPath } from 'node:url';
import { startLoggedProcess } from '../../../test/support/logged-process.ts';
import { bareGroup } from './bare-kinds.ts';
import type { BareWork, BareWrite } from './bare-writer-options.ts';
import type { BenchCluster } from './cluster.ts';
import { pathOf, type Plural } from './objects.ts';

/** A bare writer at work, in a process of its own. */
export interface BareWriter {
  /** Milliseconds from its first write to its last, once it has written for as many objects. */
  wrote(objects: number): Promise<number>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('./bare-writer.ts', import.meta.url));
/** As many calls at once as the operator makes (operator/kube/client/concurrency.ts). */
const lanes = 16;

/**
 * Starts one for these kinds of {@link bareGroup} in a box, or in all; it writes the statuses that objects of ours
 * have.
 */
export async function startBareWriter(
  cluster: BenchCluster,
  plurals: readonly Plural[],
  writes: readonly BareWrite[],
  box?: string,
): Promise<BareWriter> {
  const status = Object.fromEntries(await Promise.all(plurals.map(async (plural) => statusOfSome(cluster, plural))));
  const work: BareWork = { paths: plurals.map((plural) => pathOf(plural, box, bareGroup)), writes, status, lanes };
  const running = await startLoggedProcess(
    [program, '--kubeconfig', cluster.plane.kubeconfig, '--work', JSON.stringify(work)],
    {},
    (line) => (line.includes('"listening"') ? true : undefined),
  );
  return {
    async wrote(objects) {
      for (;;) {
        const last = parseJson(running.lines.at(-1) ?? '');
        if (isObject(last) && last['msg'] === 'idle' && last['done'] === objects) return Number(last['milliseconds']);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async stop() {
      await running.end('SIGTERM');
    },
  };
}

/** The kind, and the status that the operator gave to some object of it. */
async function statusOfSome(cluster: BenchCluster, plural: Plural): Promise<[string, unknown]> {
  const { body } = await cluster.plane.call({ path: `${pathOf(plural)}?limit=1` });
  const items = isObject(body) && Array.isArray(body['items']) ? body['items'] : [];
  const [first] = items.filter(isObject);
  if (first === undefined) throw new Error(`there are no ${plural} of which to take a status`);
  return [String(first['kind']), first['status']];
}
