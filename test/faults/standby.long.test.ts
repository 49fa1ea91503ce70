import { expect } from 'chai';
import { createManagement } from '../support/api.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import type { OwnPostgres } from '../support/own-postgres.ts';
import { adminSecret } from '../http/resources/box-api.ts';
import { expectUnavailable, json, startProbes } from './probes.ts';
import type { Probe } from './probes.ts';
import { primarySettings, standbyName, startStandby } from './standby-server.ts';
import type { Standby } from './standby-server.ts';

const demanding = { BOXGATE_REVOCATIONS_NEED_STANDBY: 'true' };
const form = 'application/x-www-form-urlencoded';

describe('S-07 an API that acknowledges no revocation before a standby has it', () => {
  let primary: OwnPostgres;
  let standby: Standby;
  let api: ApiProcess;

  before(async () => {
    primary = await startOwnPostgres(primarySettings);
    // What an installation may say for its own reasons: nothing waits for a standby that does not ask for it.
    await primary.query('ALTER DATABASE boxgate SET synchronous_commit = local');
    api = await startApiProcess(primary.apiUrl, demanding);
  });
  after(async () => {
    await api.end('SIGKILL');
    await standby.remove();
    await primary.remove();
  });

  /** A request with the secret of `admin`, or with a token. */
  async function ask(of: ApiProcess, method: string, path: string, by: string, fields?: object): Promise<Probe> {
    const began = performance.now();
    const response = await fetch(`${of.url}/boxes/default${path}`, {
      method,
      headers: { Authorization: by, ...(fields === undefined ? {} : { 'Content-Type': form }) },
      body: fields === undefined ? null : new URLSearchParams({ ...fields }).toString(),
    });
    const text = await response.text();
    const shape = path.startsWith('/auth') ? 'oauth' : 'resource';
    const retryAfter = response.headers.get('retry-after');
    return {
      name: `${method} ${path}`,
      shape,
      status: response.status,
      text,
      retryAfter,
      took: performance.now() - began,
    };
  }

  /** Sessions of `admin` have a refresh family, which a transaction ends; those of `plain` have none. */
  const clients = ['admin', 'plain'] as const;

  function secretOf(client: (typeof clients)[number]): string {
    return `Basic ${btoa(`${client}:${adminSecret}`)}`;
  }

  const secret = secretOf('admin');

  async function newToken(client: (typeof clients)[number] = 'admin'): Promise<string> {
    const issued = await ask(api, 'POST', '/auth/token', secretOf(client), { grant_type: 'client_credentials' });
    return String(json(issued)['access_token']);
  }

  async function sessionPath(token: string): Promise<string> {
    return `/Session/${String(json(await inspect(token))['jti'])}`;
  }

  function close(token: string): Promise<Probe> {
    return ask(api, 'DELETE', '/Session', `Bearer ${token}`);
  }

  function revoke(token: string, client: (typeof clients)[number] = 'admin'): Promise<Probe> {
    return ask(api, 'POST', '/auth/revoke', secretOf(client), { token });
  }

  function inspect(token: string, of = api): Promise<Probe> {
    return ask(of, 'POST', '/auth/introspect', secret, { token });
  }

  async function isActive(token: string, of = api): Promise<unknown> {
    return json(await inspect(token, of))['active'];
  }

  async function synchronousStandby(name: string): Promise<void> {
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`, 'SELECT pg_reload_conf()');
    await eventually('the setting is taken', async () => {
      const { rows } = await primary.query("SELECT current_setting('synchronous_standby_names') AS names");
      return rows[0]?.['names'] === name;
    });
  }

  /** Every way to take something away. */
  async function expectAllRefused(): Promise<void> {
    const admin = `Bearer ${await newToken()}`;
    for (const client of clients) {
      const token = await newToken(client);
      expectUnavailable(await close(token));
      expectUnavailable(await revoke(token, client));
      expectUnavailable(await ask(api, 'DELETE', await sessionPath(token), admin));
      expect(await isActive(token)).to.equal(true);
    }
    const { remove } = createManagement(api.managementUrl, api.managementKey);
    const removed = remove('default', [{ kind: 'Client', id: 'plain' }]);
    expect(String(await removed.catch((error: unknown) => error))).to.include('"code":"unavailable"');
  }

  it('refuses every revocation while no standby is configured, and changes nothing', async () => {
    // What the tests need is declared by an API that does not ask for a standby.
    const other = await startApiProcess(primary.apiUrl);
    await startProbes(other);
    await other.end('SIGTERM');
    await expectAllRefused();
  });

  it('refuses every revocation while the standby is not connected, and issues and checks tokens meanwhile', async () => {
    await synchronousStandby(standbyName);
    await expectAllRefused();
  });

  it('acknowledges them when the standby follows', async () => {
    standby = await startStandby(primary);
    await eventually('the standby is synchronous', async () => {
      const { rows } = await primary.query('SELECT sync_state FROM pg_stat_replication');
      return rows[0]?.['sync_state'] === 'sync';
    });
    for (const client of clients) {
      for (const end of [close, revoke]) {
        const token = await newToken(client);
        expect((await end(token, client)).status).to.equal(200);
        expect(await isActive(token)).to.equal(false);
      }
    }
  });

  it('acknowledges none whose wait somebody cut short: it is there, and on no standby', async () => {
    const token = await newToken();
    standby.freeze();
    try {
      const answer = close(token);
      await eventually('the commit waits and is cancelled', async () => {
        const { rows } = await primary.query(
          `WITH waiting AS MATERIALIZED (SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep')
           SELECT pg_cancel_backend(pid) FROM waiting`,
        );
        return rows.length === 1;
      });
      expectUnavailable(await answer);
      expect(await isActive(token)).to.equal(false);
    } finally {
      standby.thaw();
    }
  });

  it('acknowledges none whose wait somebody cut short where only Postgres asks for the standby, and others share it', async () => {
    const demandingPostgres = new URL(primary.apiUrl);
    // Of this API alone: a setting of the database would be taken by connections that the first API opens meanwhile.
    demandingPostgres.searchParams.set('options', '-c synchronous_commit=on');
    const other = await startApiProcess(demandingPostgres.href);
    const admin = `Bearer ${await newToken()}`;
    const tokens = [await newToken('plain'), await newToken('plain'), await newToken('plain')];
    const [first = '', second = '', third = ''] = tokens;
    const path = await sessionPath(third);
    standby.freeze();
    try {
      const answers = Promise.all([
        ask(other, 'DELETE', '/Session', `Bearer ${first}`),
        ask(other, 'POST', '/auth/revoke', secretOf('plain'), { token: second }),
        ask(other, 'DELETE', path, admin),
      ]);
      const isWaiting = { yet: true };
      const over = answers.finally(() => (isWaiting.yet = false));
      await eventually('each commit waits and is cancelled', async () => {
        await primary.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        return !isWaiting.yet;
      });
      for (const answer of await over) expectUnavailable(answer);
      expect(await Promise.all(tokens.map((token) => isActive(token)))).to.deep.equal([false, false, false]);
    } finally {
      standby.thaw();
      await other.end('SIGKILL');
    }
  });

  it('acknowledges none while the standby hangs, not even one that is repeated, and holds no connection forever', async () => {
    const [first, second] = [await newToken(), await newToken()];
    standby.freeze();
    try {
      expectUnavailable(await close(first));
      expectUnavailable(await revoke(second));
      // It may be refused already, on this server; that is not told as done.
      expectUnavailable(await revoke(second));
      await eventually('nothing waits for the standby any more', async () => {
        const { rows } = await primary.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        return rows.length === 0;
      });
      expect(await isActive(await newToken())).to.equal(true);
    } finally {
      standby.thaw();
    }
    await eventually('it is acknowledged', async () => (await revoke(second)).status === 200);
  });

  it('loses no acknowledged one when the primary dies and the standby takes its place', async () => {
    const kept = await Promise.all(Array.from({ length: 10 }, newToken));
    const ended: string[] = [];
    const ending = await Promise.all(Array.from({ length: 30 }, newToken));
    let dying: Promise<unknown> | undefined;
    for (const [nth, token] of ending.entries()) {
      const end = nth % 2 === 0 ? close : revoke;
      const answer = end(token).then(({ status }) => {
        if (status === 200) ended.push(token);
      });
      // In the middle of one of them.
      if (nth === 20) dying = primary.kill();
      await answer.catch(() => undefined);
    }
    await dying;
    await api.end('SIGKILL');
    await standby.promote();
    api = await startApiProcess(standby.apiUrl);
    // It died in the middle of them: those processes of it that still worked may have acknowledged one more.
    expect(ended.length).to.be.within(20, 29);
    for (const token of ended) expect(await isActive(token)).to.equal(false);
    for (const token of kept) expect(await isActive(token)).to.equal(true);
  });
});
