import { expect } from 'chai';
import { Agent, request } from 'node:http';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { createManagement } from '../support/api.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

const connections = 64;
const sessions = 6_000;
const expensive = '/Session?_count=1000&_total=accurate';

describe('a box that searches on many connections at once', () => {
  let database: TestDatabase;
  let api: ApiProcess;
  const secrets = { attacker: generateClientSecret(), victim: generateClientSecret() };
  const agent = new Agent({ keepAlive: true, maxSockets: connections + 8 });

  before(async () => {
    database = await freshDatabase();
    api = await startApiProcess(database.apiUrl);
    const { declare } = createManagement(api.managementUrl, api.managementKey);
    for (const box of ['attacker', 'victim'] as const) {
      await declare(box, [
        { kind: 'Client', id: 'app', secret: secrets[box], grant_types: ['client_credentials'] },
        { kind: 'AccessPolicy', id: 'all', engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] },
      ]);
    }
  });
  after(async () => {
    agent.destroy();
    await api.end('SIGTERM');
    await database.drop();
  });

  /** Sends a request; returns its status and body. */
  function send(method: string, path: string, headers: Record<string, string>, body = '') {
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(`${api.url}${path}`, { method, headers, agent }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') });
        });
      });
      sent.on('error', reject).end(body);
    });
  }

  function issue(box: 'attacker' | 'victim') {
    const headers = {
      Authorization: `Basic ${btoa(`app:${secrets[box]}`)}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    };
    return send('POST', `/boxes/${box}/auth/token`, headers, 'grant_type=client_credentials');
  }

  async function tokenOf(box: 'attacker' | 'victim'): Promise<string> {
    return /"access_token":"([^"]+)"/.exec((await issue(box)).text)?.[1] ?? '';
  }

  /** Stores sessions like the one that a client has. */
  async function copySessions(box: string): Promise<void> {
    const pool = createPool(
      database.ownerUrl,
      { ...defaultLimits, statementTimeout: 60_000 },
      'owner',
      () => undefined,
    );
    const columns = 'version, expires_at, bucket, type, box, client, token_hash, remote_addr';
    const statement = `INSERT INTO boxgate.session (id, ${columns})
      SELECT uuidv7(), ${columns} FROM (SELECT * FROM boxgate.session WHERE box = $1 LIMIT 1) s, generate_series(1, $2)`;
    await pool.query(statement, [box, sessions]);
    await pool.end();
  }

  it('R-06 makes no request of another box fail', async () => {
    const [attacking, reading] = [await tokenOf('attacker'), await tokenOf('victim')];
    await copySessions('attacker');
    let isOver = false;
    const told = new Set<number>();
    const attack = Array.from({ length: connections }, async () => {
      while (!isOver) {
        const { status } = await send('GET', `/boxes/attacker${expensive}`, { Authorization: `Bearer ${attacking}` });
        told.add(status);
      }
    });
    await eventually('the attacker waits for connections', async () => (await waiting('attacker')) > 0);
    const victim: number[] = [];
    const bearer = { Authorization: `Bearer ${reading}` };
    for (let round = 0; round < 20; round += 1) {
      const issued = await issue('victim');
      const read = await send('GET', '/boxes/victim/Client', bearer);
      const page = await send('GET', '/boxes/victim/Session?_count=10', bearer);
      victim.push(issued.status, read.status, page.status);
    }
    isOver = true;
    await Promise.all(attack);
    expect(new Set(victim)).to.deep.equal(new Set([200]));
    // What the attacker cannot have is told as what it is.
    expect([200, 429, 503]).to.include.members([...told]);
  });

  /** Requests of a box that wait for a connection, as the metrics have it. */
  async function waiting(box: string): Promise<number> {
    const page = await (await fetch(`${api.managementUrl}/metrics`)).text();
    return Number(
      new RegExp(`^boxgate_share_waiting{resource="connections",box="${box}"} (\\d+)$`, 'm').exec(page)?.[1],
    );
  }
});
