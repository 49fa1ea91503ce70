import { expect } from 'chai';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { startProbes } from './probes.ts';
import type { Probes } from './probes.ts';

/** Requests of each caller under load; `make faults` sends many. */
const requests = Number(process.env['BOXGATE_SCARCE_REQUESTS'] ?? '3');

describe('F-30 an API with 256 files, a heap of 128 MB and a tenth of a processor', () => {
  let database: TestDatabase;
  let api: ApiProcess;
  let probes: Probes;

  before(async () => {
    database = await freshDatabase();
    // A limit of the shell is that of the process that takes its place.
    const files = ['sh', '-c', 'ulimit -n 256; exec "$@"', 'sh'];
    api = await startApiProcess(database.apiUrl, { NODE_OPTIONS: '--max-old-space-size=128' }, files);
    probes = await startProbes(api);
  });
  after(async () => {
    await api.end('SIGTERM');
    await database.drop();
  });

  it('serves those whom it has a file for, stays ready, and says that it closes the others', async () => {
    const idle = Array.from({ length: 400 }, () => openSocket());
    try {
      await eventually(
        'those without a file are closed',
        () => idle.filter(({ closed }) => closed).length >= 400 - 140,
      );
      const ready = await fetch(`${api.managementUrl}/readyz`);
      expect([ready.status, await ready.text()]).to.deep.equal([200, 'ok']);
      // New connections to Postgres find a file, too.
      await killConnections();
      await eventually('it is ready again', async () => (await fetch(`${api.managementUrl}/readyz`)).status === 200);
    } finally {
      for (const socket of idle) socket.destroy();
    }
    await eventually('it serves again', async () => (await probes.issue().catch(() => undefined))?.status === 200);
    const said = () => api.lines.filter((line) => line.includes('"level":"warn"')).join('\n');
    expect(said()).to.match(/"open_files":256,"connections":140,"msg":"few connections are served: raise the number/);
    await eventually('it has said what it closes', () => said().includes('"refused":1,"limit":140,"msg":"new conn'));
  });

  it('answers or says when to try again, and ends for no load', async function () {
    // Each round of the callers takes three seconds of a tenth of a processor.
    this.timeout(120_000 + requests * 10_000);
    const stopSlowing = slowDown(api.pid);
    const answers: string[] = [];
    const large = JSON.stringify({ description: 'x'.repeat(900_000) });
    const caller = async (index: number): Promise<void> => {
      for (let request = 0; request < requests; request += 1) {
        answers.push(index % 3 === 0 ? await post(large) : await issued());
      }
    };
    try {
      await Promise.all(Array.from({ length: 60 }, (_, index) => caller(index)));
    } finally {
      await stopSlowing();
    }
    const [allowed, others] = [answers.filter(isAllowed), answers.filter((answer) => !isAllowed(answer))];
    expect(others).to.deep.equal([]);
    expect(allowed).to.include.members(['token 200', 'large 422']);
    expect(api.hasEnded()).to.equal(false);
    await eventually('it serves as before', async () => (await probes.issue()).status === 200);
  });

  function openSocket(): Socket {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    return socket;
  }

  async function killConnections(): Promise<void> {
    const statement = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE usename = 'boxgate_api' AND datname = current_database()`;
    await ownerQuery({ database }, statement, []);
  }

  async function issued(): Promise<string> {
    const { status, retryAfter } = await probes.issue();
    return `token ${String(status)}${retryAfter === null ? '' : ' later'}`;
  }

  /** Sends a Client that lacks what it must have. */
  async function post(body: string): Promise<string> {
    const headers = { Authorization: `Bearer ${probes.token}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${api.url}/boxes/default/Client`, { method: 'POST', headers, body });
    await response.text();
    return `large ${String(response.status)}${response.headers.has('retry-after') ? ' later' : ''}`;
  }
});

/** An answer, or one that says when to come again: 503, and 429 where a caller has used up its share. */
function isAllowed(answer: string): boolean {
  return ['token 200', 'large 422'].includes(answer) || /^(token|large) (503|429) later$/.test(answer);
}

/**
 * Lets a process run for 10 ms of each 100 ms, as a limit of 0.1 CPU of Kubernetes does, until the returned function is
 * called.
 */
function slowDown(pid: number): () => Promise<void> {
  const over = new AbortController();
  const slowing = (async () => {
    while (!over.signal.aborted) {
      process.kill(pid, 'SIGSTOP');
      await sleep(90);
      process.kill(pid, 'SIGCONT');
      await sleep(10);
    }
  })();
  return async () => {
    over.abort();
    await slowing;
  };
}
