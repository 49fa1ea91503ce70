// `npm run bench:operator`: measures the operator on a real Kubernetes API and writes its table in
// docs/maintainers/performance.md. `--small` takes small sizes to see that it works, and only prints.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isObject } from '../../crds/path.ts';
import { startProcessRig, type ProcessRig } from '../../test/operator/operator-rig.ts';
import type { OperatorProcess } from '../../test/support/operator-process.ts';
import { startControlPlane } from '../../test/support/cluster/control-plane.ts';
import { megabytes, whole } from './figures.ts';
import { makeDatabase } from './machine/database.ts';
import { startPostgres } from './machine/postgres.ts';
import { printTable, writeTable } from './report.ts';
import { verdictOf, type Row } from './scenario.ts';

const { small } = parseArgs({ options: { small: { type: 'boolean', default: false } } }).values;
const [boxCount, count, probes] = small ? [3, 60, 5] : [100, 10_000, 100];
const generated = { grant_types: ['client_credentials'] };
/** Milliseconds; nothing here takes half as long. */
const patience = 900_000;

const postgres = await startPostgres();
// The programs of a control plane keep nobody running: to wait for their end is no reason for Node to go on.
const stayingAlive = setInterval(() => undefined, 60_000);
const urls = await makeDatabase(postgres, 'operator');
const database = { ownerUrl: urls.BOXGATE_OWNER_URL, apiUrl: urls.BOXGATE_DATABASE_URL, drop: () => Promise.resolve() };
const rig = await startProcessRig(await startControlPlane(), database);
try {
  const rows = [...(await measureInstallation(rig)), await measureCreation(rig)];
  printTable(rows);
  if (!small) await writeTable(rows, 'bench-operator');
} finally {
  await rig.stop();
  await rig.plane.stop();
  await postgres.stop();
  clearInterval(stayingAlive);
}

/** A large installation: the first start of an operator, a restart, and the memory with it. */
async function measureInstallation(given: ProcessRig): Promise<readonly Row[]> {
  const boxes: string[] = [];
  while (boxes.length < boxCount) boxes.push(await given.box());
  await Promise.all(
    Array.from({ length: 16 }, async (_, lane) => {
      for (let nth = lane; nth < count; nth += 16) {
        const [box, name] = [boxes[nth % boxCount] ?? '', `service-${String(nth)}`];
        await given.put('Client', box, name, generated);
        const link = [{ resourceType: 'Client', id: name }];
        await given.put('AccessPolicy', box, name, { engine: 'allow', link });
      }
    }),
  );
  const first = await timeToReady(given, 2 * count);
  await first.operator.end('SIGTERM');
  for (const box of boxes) await given.put('AccessPolicy', box, 'declared-meanwhile', { engine: 'allow' });
  const again = await timeToReady(given, 2 * count + boxCount);
  const memory = memoryOf(again.operator.pid);
  const what = `${whole(count)} Clients with generated secrets and as many policies in ${String(boxCount)} namespaces`;
  return [
    {
      what: `${what}: first start, until each is Ready`,
      goal: 'reported',
      figure: seconds(first.time),
      verdict: 'reported',
    },
    {
      what: `${what}, restart: until a policy declared in each namespace meanwhile is Ready too`,
      goal: '< 20 s',
      figure: seconds(again.time),
      verdict: verdictOf(again.time < 20_000),
    },
    {
      what: 'resident memory of the operator with these',
      goal: '< 340 MB',
      figure: `${megabytes(memory.now)} (highest ${megabytes(memory.peak)})`,
      verdict: verdictOf(memory.now < 340e6),
    },
  ];
}

/** Starts an operator, and waits until it counts so many objects as Ready. */
async function timeToReady(
  given: Pick<ProcessRig, 'operatorProcess'>,
  objects: number,
): Promise<{ operator: OperatorProcess; time: number }> {
  const begin = performance.now();
  const operator = await given.operatorProcess();
  for (;;) {
    const text = await (await fetch(`${operator.healthUrl}/metrics`)).text();
    const ready = text.matchAll(/^boxgate_operator_objects\{(?=.*condition="Ready").*status="True".*\} (\d+)$/gm);
    const found = [...ready].reduce((sum, [, value]) => sum + Number(value), 0);
    const time = performance.now() - begin;
    if (found >= objects) return { operator, time };
    if (time > patience) throw new Error(`only ${String(found)} of ${String(objects)} objects are Ready`);
    await pause(100);
  }
}

/** One Client created in a box of many, until its generated Secret gets a token. */
async function measureCreation(given: ProcessRig): Promise<Row> {
  const box = await given.box();
  const times: number[] = [];
  for (let nth = 0; nth < probes; nth += 1) {
    const name = `probe-${String(nth)}`;
    await given.put('Client', box, name, generated);
    const begin = performance.now();
    const secret = await firstValue(async () => {
      const { body } = await given.plane.call({ path: `/api/v1/namespaces/${box}/secrets/${name}` });
      const data = isObject(body) && isObject(body['data']) ? body['data']['client_secret'] : undefined;
      return typeof data === 'string' ? Buffer.from(data, 'base64').toString() : undefined;
    });
    await firstValue(async () => ((await given.token(box, name, secret)) === 200 ? true : undefined));
    times.push(performance.now() - begin);
    // Not in step with anything that the operator does on a period.
    await pause(20 + Math.random() * 80);
  }
  const at = (part: number): number => times.toSorted((a, b) => a - b)[Math.ceil(times.length * part) - 1] ?? NaN;
  return {
    what: 'create of one Client answered, until its generated Secret gets a token, beside that installation',
    goal: 'p50 < 150 ms, p99 < 250 ms',
    figure: `p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms`,
    verdict: verdictOf(at(0.5) < 150 && at(0.99) < 250),
  };
}

async function firstValue<T>(find: () => Promise<T | undefined>): Promise<T> {
  const begin = performance.now();
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() - begin > patience) throw new Error('what was created does not get a token');
    await pause(2);
  }
}

/** Resident memory of a process, bytes: now, and the most it ever had (VmRSS and VmHWM of proc(5)). */
function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const text = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
