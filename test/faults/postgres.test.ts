import { expect } from 'chai';
import pg from 'pg';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { IN_RECOVERY } from '../../api/db/core/with-connection.ts';
import { writeOwned } from '../support/physical-backup.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import type { OwnPostgres } from '../support/own-postgres.ts';
import { expectUnavailable, json, startProbes } from './probes.ts';
import type { Probe, Probes } from './probes.ts';

const connections = 30;

describe('an API whose Postgres', () => {
  let postgres: OwnPostgres;
  let proxy: FaultProxy;
  let api: ApiProcess;
  let probes: Probes;

  before(async () => {
    postgres = await startOwnPostgres([`max_connections=${String(connections)}`, 'superuser_reserved_connections=5']);
    proxy = await startFaultProxy(postgres.port);
    const url = new URL(postgres.apiUrl);
    url.port = String(proxy.port);
    api = await startApiProcess(url.href);
    probes = await startProbes(api);
  });
  after(async () => {
    await api.end('SIGKILL');
    await proxy.close();
    await postgres.remove();
  });

  /** Whatever happened: the process lives, the token lives, and everything works by itself. */
  afterEach(async () => {
    let still: readonly Probe[] = [];
    await eventually('all works again', async () => {
      still = await Promise.all([probes.check(), probes.issue(), probes.refresh(), probes.one('GET /Client')]);
      return still.every(({ status }) => status === 200);
    });
    expect(json(still[0] ?? (await probes.check()))).to.include({ active: true });
    expect(api.lines.filter((line) => /"msg":"bug"|"level":"(error|fatal)"/.test(line))).to.deep.equal([]);
  });

  /**
   * Checks whether a status is a route's answer without faults. Not every named resource exists, and the routes for
   * people reject the request because no person sends it.
   */
  function isAnswer({ name, status, shape }: Probe): boolean {
    const refusals = name.includes(' /account') ? [403] : [];
    return [200, 201, 204, 404, ...(shape === 'resource' ? refusals : [303, 400, 403])].includes(status);
  }

  async function expectAllUnavailable(): Promise<void> {
    (await probes.all()).forEach(expectUnavailable);
    for (const probe of await Promise.all([probes.issue(), probes.refresh(), probes.check()])) expectUnavailable(probe);
  }

  /** Works while statements of a superuser's open transaction hold something. */
  async function holding(statement: string, work: () => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.ownerUrl });
    await client.connect();
    try {
      await client.query(`BEGIN; ${statement}`);
      await work();
    } finally {
      await client.query('ROLLBACK');
      await client.end();
    }
  }

  it('F-16 X-15 was killed answers 503 on every route, and works again when it is back', async () => {
    await postgres.kill();
    await expectAllUnavailable();
    await postgres.restart();
  });

  it('F-16 X-15 is frozen answers 503 on every route, and works again when it thaws', async () => {
    postgres.freeze();
    try {
      await expectAllUnavailable();
      // Nor does one who comes later wait for those who came first.
      await expectAllUnavailable();
    } finally {
      postgres.thaw();
    }
  });

  it('X-15 is frozen while the connections are closed, so that none can be made: the same', async () => {
    postgres.freeze();
    try {
      proxy.cut();
      await expectAllUnavailable();
    } finally {
      postgres.thaw();
    }
  });

  it('F-16 is cut off everywhere at once, under load, fails some requests with 503 and none otherwise', async () => {
    const answers: Probe[] = [];
    let going = true;
    const load = Array.from({ length: 8 }, async (_, nth) => {
      while (going) answers.push(await (nth % 2 === 0 ? probes.issue() : probes.refresh()));
    });
    for (let nth = 0; nth < 5; nth += 1) {
      const { length } = answers;
      await eventually(
        'the load goes on',
        () => answers.filter(({ status }) => status === 200).length > 20 * (nth + 1),
      );
      await postgres.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'boxgate%'",
      );
      await eventually('somebody is answered', () => answers.length > length);
    }
    going = false;
    await Promise.all(load);
    answers.filter(({ status }) => status !== 200).forEach(expectUnavailable);
    expect(answers.length).to.be.greaterThan(100);
  });

  it('X-15 F-17 is read-only stays ready, answers reads, and 503 to what has to write', async () => {
    // E-29: a pod that is not ready gets no requests, so that its reads could not be answered either.
    await postgres.query(
      'ALTER DATABASE boxgate SET default_transaction_read_only = on',
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name LIKE 'boxgate%'",
    );
    for (const probe of await probes.all()) {
      if (!isAnswer(probe)) expectUnavailable(probe);
    }
    for (const probe of [await probes.issue(), await probes.refresh(), await probes.one('POST /Client')]) {
      expectUnavailable(probe);
    }
    expect(json(await probes.check())).to.include({ active: true });
    expect((await probes.one('GET /Client')).status).to.equal(200);
    expect((await fetch(`${api.managementUrl}/readyz`)).status).to.equal(200);
    await postgres.query(
      'SET default_transaction_read_only = off',
      'ALTER DATABASE boxgate RESET default_transaction_read_only',
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name LIKE 'boxgate%'",
    );
  });

  it('X-15 F-17 is a standby, or was demoted to one, is not ready and answers 503 on every route', async () => {
    // E-29: the rows of a server in recovery may be older than a revocation.
    await postgres.kill();
    await writeOwned(postgres.dataDir, 'standby.signal', '');
    await postgres.restart();
    await expectAllUnavailable();
    const ready = await fetch(`${api.managementUrl}/readyz`);
    expect([ready.status, await ready.text()]).to.deep.equal([503, IN_RECOVERY]);
    await postgres.query('SELECT pg_promote(true, 60)');
  });

  it('F-18 X-15 has its sessions locked answers 503 to what needs them', async () => {
    await holding('LOCK TABLE boxgate.session IN ACCESS EXCLUSIVE MODE', async () => {
      for (const probe of [probes.issue(), probes.check(), probes.refresh(), probes.one('GET /Session')]) {
        expectUnavailable(await probe);
      }
    });
  });

  it('F-18 has a box locked goes on to issue and check tokens, and answers 503 to changes', async () => {
    await holding("SELECT FROM boxgate.box WHERE box = 'default' FOR UPDATE", async () => {
      const [change, issued, checked] = await Promise.all([probes.one('POST /Client'), probes.issue(), probes.check()]);
      expectUnavailable(change);
      expect([issued.status, checked.status]).to.deep.equal([200, 200]);
    });
  });

  it('F-18 has every connection of searches and changes waiting goes on to issue and check tokens', async () => {
    await holding('LOCK TABLE boxgate.resource, boxgate.refresh_family IN EXCLUSIVE MODE', async () => {
      const fine: Probe[] = [];
      // On a machine that stalls they may have waited in vain before anybody has asked for something else.
      while (fine.length === 0) {
        const state = { waiting: true };
        const changes = Promise.all(Array.from({ length: 40 }, () => probes.one('POST /Client'))).finally(() => {
          state.waiting = false;
        });
        await eventually('four connections wait', async () => {
          const { rows } = await postgres.query(
            "SELECT FROM pg_stat_activity WHERE application_name = 'boxgate' AND wait_event_type = 'Lock'",
          );
          return rows.length === 4 || !state.waiting;
        });
        while (state.waiting) {
          fine.push(await probes.issue(), await probes.check());
          expect((await fetch(`${api.managementUrl}/readyz`)).status).to.equal(200);
        }
        (await changes).forEach(expectUnavailable);
      }
      expect(fine.filter(({ status }) => status !== 200)).to.deep.equal([]);
    });
  });

  it('F-18 X-15 has no free connection answers 503', async () => {
    const hoard: pg.Client[] = [];
    const terminate =
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name LIKE 'boxgate%'";
    try {
      for (;;) {
        const client = new pg.Client({ connectionString: postgres.apiUrl });
        client.on('error', () => undefined);
        try {
          await client.connect();
          hoard.push(client);
        } catch {
          // Full: but for the connections of the API, whose places go to the hoard too.
          if (hoard.length >= connections - 5) break;
          await postgres.query(terminate);
        }
      }
      await expectAllUnavailable();
    } finally {
      await Promise.all(hoard.map((client) => client.end()));
    }
  });

  it('F-18 is half a second away answers, or says 503, and never hangs', async () => {
    proxy.delay = 250;
    try {
      for (const probe of await probes.all()) {
        if (!isAnswer(probe)) expectUnavailable(probe);
      }
    } finally {
      proxy.delay = 0;
    }
  });

  it('F-16 restarts in the middle of requests fails some with 503 and none otherwise', async () => {
    const answers: Probe[] = [];
    let going = true;
    const load = Array.from({ length: 6 }, async (_, nth) => {
      while (going) answers.push(await (nth % 2 === 0 ? probes.issue() : probes.check()));
    });
    await eventually('the load goes on', () => answers.length > 20);
    await postgres.kill();
    await postgres.restart();
    const { length } = answers;
    await eventually('it works again', () => answers.slice(length).filter(({ status }) => status === 200).length > 20);
    going = false;
    await Promise.all(load);
    answers.filter(({ status }) => status !== 200).forEach(expectUnavailable);
  });
});
