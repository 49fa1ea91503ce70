// A program that aborts calls with a body at once, over one HTTP/2 connection, and ends when all of them have ended.
import { CoreV1Api } from '@kubernetes/client-node';
import { ClusterConfig, createConnection } from '../../../../operator/kube/client/cluster-config.ts';
import { createKubeApi } from '../../../../operator/kube/client/kube-api.ts';

const [server = '', certificate = ''] = process.argv.slice(2);
const config = new ClusterConfig();
config.loadFromClusterAndUser({ name: 'cluster', server, caFile: certificate, skipTLSVerify: false }, { name: 'user' });

const api = createKubeApi(createConnection(() => config));
const body = { metadata: { name: 'X'.repeat(100) } };

/** Sends a call with a body and waits for its end, whatever that is. */
async function call(signal: AbortSignal): Promise<void> {
  await api.call((make) => make(CoreV1Api).createNamespace({ body }), signal).catch(() => undefined);
}

/** Waits for some ways of the event loop to go on. */
const waits: readonly (() => Promise<void>)[] = [
  () => Promise.resolve(),
  () => new Promise((resolve) => process.nextTick(resolve)),
  () => new Promise((resolve) => setImmediate(resolve)),
  () => new Promise((resolve) => setTimeout(resolve, 1)),
];

/** Begins calls one after the other, and aborts all of them together. */
async function abortTogether(wait: () => Promise<void>, count: number): Promise<void> {
  const stopping = new AbortController();
  const calls: Promise<void>[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    calls.push(call(stopping.signal));
    await wait();
  }
  stopping.abort(new Error('the caller stops'));
  await Promise.all(calls);
}

// The first call opens the connection.
await call(new AbortController().signal);
for (let count = 1; count <= 40; count += 1) for (const wait of waits) await abortTogether(wait, count);
process.stdout.write('all calls have ended\n');
process.exit();
