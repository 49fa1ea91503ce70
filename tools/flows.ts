// The second half of `make size`: prints how many files and functions of the product run for one warm request of each
// flow, and for one changed Client in a folder of `boxgate dev`, by the coverage of V8. The processes under measurement
// load this file too: SIGUSR2 makes them write what ran since the last time.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import type { Client } from '../crds/client.ts';
import { startBoxgate, type Boxgate } from './bench/boxgate.ts';
import { startPostgres } from './bench/machine/postgres.ts';

/** Place that a process under measurement writes to. */
const report = process.env['BOXGATE_FLOWS_REPORT'];
const self = fileURLToPath(import.meta.url);
const tree = path.join(self, '../..');
/** Requests before the one that counts: caches are filled by then. */
const warmUp = 20;

if (report === undefined) await measure();
else if (isMainThread) reportOnSignal(report);

function reportOnSignal(file: string): void {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on('SIGUSR2', () =>
    session.post('Profiler.takePreciseCoverage', (_error, { result }) => writeFileSync(file, summary(result))),
  );
}

/** Counts the functions of the product that ran, and the files that hold them. A module itself is no function. */
function summary(scripts: readonly Profiler.ScriptCoverage[]): string {
  const product = new RegExp(`^${pathToFileURL(tree).href}/(crds|api|operator|dev|program)/`);
  const ran = scripts
    .filter(({ url }) => product.test(url))
    .map(
      ({ functions }) =>
        functions.filter(({ ranges: [whole] }) => (whole?.count ?? 0) > 0 && whole?.startOffset !== 0).length,
    )
    .filter((count) => count > 0);
  return `${String(ran.length)} files, ${String(ran.reduce((total, count) => total + count, 0))} functions`;
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-flows-'));
  try {
    await measureApi(path.join(folder, 'api'));
    await measureReconciler(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureApi(file: string): Promise<void> {
  const postgres = await startPostgres();
  try {
    const boxgate = await startBoxgate(postgres, 'flows', loaded(file));
    try {
      await measureFlows(boxgate, file);
    } finally {
      await boxgate.stop();
    }
  } finally {
    await postgres.stop();
  }
}

async function measureFlows(boxgate: Boxgate, file: string): Promise<void> {
  const base = `http://127.0.0.1:${String(boxgate.port)}`;
  const { id, secret } = boxgate.clients.opaque;
  const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const [token = ''] = await boxgate.issue(boxgate.clients.reader, 1);
  const bearer = { authorization: `Bearer ${token}` };
  const call = async (endpoint: string, init: RequestInit): Promise<void> => {
    const response = await fetch(base + boxgate.path(endpoint), init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${endpoint} answers ${String(response.status)}: ${text}`);
  };
  const machine: Pick<Client, 'secret' | 'grant_types'> = { secret, grant_types: ['client_credentials'] };
  let nth = 0;
  const put = (): Promise<void> => {
    nth += 1;
    const client = { ...machine, description: String(nth) };
    const headers = { ...bearer, 'content-type': 'application/json' };
    return call('/Client/flows', { method: 'PUT', headers, body: JSON.stringify(client) });
  };
  const declareOne = async (): Promise<void> => {
    nth += 1;
    const declared = `flows-${String(nth)}`;
    const resource = { resourceType: 'Client' as const, id: declared, ...machine };
    await boxgate.add([{ kind: 'Client', id: declared, resource }]);
  };
  const flows: Readonly<Record<string, () => Promise<void>>> = {
    token: () => call('/auth/token', { method: 'POST', headers: { authorization: basic }, body }),
    check: () =>
      call('/auth/introspect', {
        method: 'POST',
        headers: { authorization: basic },
        body: new URLSearchParams({ token }),
      }),
    list: () => call('/Client?_count=10', { headers: bearer }),
    'PUT Client': put,
    'declared Client, in the API': declareOne,
  };
  for (const [name, flow] of Object.entries(flows)) await measureFlow(name, flow, { pid: boxgate.pid, file });
}

async function measureReconciler(folder: string): Promise<void> {
  const [file, manifests] = [path.join(folder, 'reconciler'), path.join(folder, 'manifests')];
  mkdirSync(manifests);
  const manifest = path.join(manifests, 'client.yaml');
  writeFileSync(
    manifest,
    'apiVersion: boxgate.dev/v1\nkind: Client\nmetadata:\n  name: one\nspec:\n  grant_types: [client_credentials]\n  description: a',
  );
  const args = ['dev/main.ts', 'dev', manifests, '--port', '0', '--management-port', '0'];
  const env = { ...process.env, ...loaded(file) };
  const child = spawn(process.execPath, args, { cwd: tree, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  try {
    await until(() => output.includes('curl'));
    await measureFlow(
      'changed Client, in the reconciler',
      async () => {
        appendFileSync(manifest, 'a');
        // Longer than a pass takes, which prints nothing about an object that stays Ready.
        await pause(5_000);
      },
      { pid: child.pid ?? 0, file },
    );
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  }
}

/** Environment of a process that loads this file. */
function loaded(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${self}`, BOXGATE_FLOWS_REPORT: file };
}

async function measureFlow(
  name: string,
  flow: () => Promise<void>,
  { pid, file }: { readonly pid: number; readonly file: string },
): Promise<void> {
  for (let nth = 0; nth < (name.startsWith('changed') ? 2 : warmUp); nth += 1) await flow();
  await take(pid, file);
  await flow();
  process.stdout.write(`${(await take(pid, file)).padStart(26)}  ${name}\n`);
}

/** Returns what ran in a process since the last call. */
async function take(pid: number, file: string): Promise<string> {
  process.kill(pid, 'SIGUSR2');
  await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return text;
}

async function until(holds: () => boolean): Promise<void> {
  for (let nth = 0; nth < 6_000; nth += 1) {
    if (holds()) return;
    await pause(10);
  }
  throw new Error('nothing happened for a minute');
}
