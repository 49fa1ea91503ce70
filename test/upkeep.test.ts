import { expect } from 'chai';
import { Writable } from 'node:stream';
import { createPool, defaultLimits } from '../api/db/core/pool.ts';
import { Outage } from '../api/db/core/outage.ts';
import { createLog } from '../program/log.ts';
import type { OAuthServices } from '../api/oauth/services.ts';
import { leasedRound, startUpkeep, upkeepRound } from '../api/upkeep.ts';
import { makeWorld } from './oauth/world.ts';
import type { World } from './oauth/world.ts';
import { eventually } from './support/eventually.ts';

const signing = {
  kind: 'Client',
  id: 'c',
  grant_types: ['client_credentials'],
  secret: 'a-secret',
  auth: { client_credentials: { token_format: 'jwt', refresh_token: true } },
} as const;

const running = new AbortController().signal;

describe('upkeep', () => {
  let world: World;
  const lines: string[] = [];
  const log = createLog(
    'info',
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString('utf8'));
        done();
      },
    }),
  );

  before(async () => {
    world = await makeWorld();
    for (const box of ['a', 'b', 'c']) await world.declare(box, signing);
    for (const box of ['a', 'b', 'c'])
      await world.services.keys.upkeep(box, { resourceType: 'Box', id: box }, world.clock.now);
  });
  after(() => world.end());
  beforeEach(() => {
    lines.length = 0;
  });

  /** The services, but that the keys of one box cannot be kept up. */
  function failing(box: string, error: Error): { services: OAuthServices; kept: string[] } {
    const kept: string[] = [];
    const { keys } = world.services;
    const upkeep: typeof keys.upkeep = (name, ...rest) => {
      if (name === box) return Promise.reject(error);
      kept.push(name);
      return keys.upkeep(name, ...rest);
    };
    return { kept, services: { ...world.services, keys: { ...keys, upkeep } } };
  }

  it('deletes used assertions that are over, of all boxes, and none that is not', async () => {
    const { now } = world.clock;
    for (const [box, end] of [
      ['a', now - 1000],
      ['b', now - 1000],
      ['c', now + 60_000],
    ] as const) {
      await world.owner.query(
        `INSERT INTO boxgate.used_assertion (box, client, jti, request, expires_at)
         VALUES ($1, 'c', '\\x00', gen_random_uuid(), $2)`,
        [box, new Date(end)],
      );
    }
    await upkeepRound(world.services, log, running);
    const { rows } = await world.owner.query('SELECT box FROM boxgate.used_assertion');
    expect(rows).to.deep.equal([{ box: 'c' }]);
  });

  it('deletes sign-ins that are over, and none that is not', async () => {
    const { now } = world.clock;
    await world.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper) VALUES ('a', 1, 'x@a', 'x@a', '', '')`,
    );
    for (const [browser, end] of [
      ['\\x00', now - 1000],
      ['\\x01', now + 60_000],
    ] as const) {
      await world.owner.query(
        `INSERT INTO boxgate.sign_in (box, browser, user_id, version, created_at, expires_at)
         VALUES ('a', $1, 1, 1, now(), $2)`,
        [browser, new Date(end)],
      );
    }
    await upkeepRound(world.services, log, running);
    const { rows } = await world.owner.query(`SELECT encode(browser, 'hex') AS browser FROM boxgate.sign_in`);
    expect(rows).to.deep.equal([{ browser: '01' }]);
  });

  it('of one box may fail: the others have theirs, and the log says which and why', async () => {
    const { services, kept } = failing('b', new Error('its key cannot be opened'));
    await upkeepRound(services, log, running);
    expect(kept).to.have.members(['a', 'c']);
    const [line] = lines.filter((one) => one.includes('"level":"error"'));
    expect(JSON.parse(line ?? '{}')).to.include({ box: 'b', message: 'its key cannot be opened' });
  });

  it('is the work of one replica in each period, and of another one in the next', async () => {
    const { services, kept } = failing('none', new Error('never'));
    await Promise.all([1, 2, 3].map(() => leasedRound(services, log, running)));
    expect(kept).to.have.members(['a', 'b', 'c']);
    await world.owner.query('UPDATE boxgate.lease SET until = now()');
    await leasedRound(services, log, running);
    expect(kept).to.have.length(6);
  });

  it('loads no box: those that nobody uses cost a replica no memory', async () => {
    const replica = world.replica();
    await upkeepRound(replica, log, running);
    expect(replica.states.size).to.equal(0);
  });

  it('keeps the keys as the Box declares it', async () => {
    await world.declare('c', { kind: 'Box', id: 'c', signing: { algorithm: 'EdDSA' } });
    await upkeepRound(world.services, log, running);
    const { rows } = await world.owner.query<{ algorithm: string }>(
      `SELECT algorithm FROM boxgate.signing_key WHERE box = 'c' AND retired_at IS NULL`,
    );
    expect(rows).to.deep.include({ algorithm: 'EdDSA' });
  });

  it('records that the keys of a box moved on, once, and of no other box', async () => {
    await upkeepRound(world.services, log, running);
    world.takeRecords();
    await world.declare('b', { kind: 'Box', id: 'b', signing: { algorithm: 'EdDSA' } });
    for (let rounds = 0; rounds < 2; rounds += 1) await upkeepRound(world.services, log, running);
    const records = world
      .takeRecords()
      .map(({ box, event, target, result, count }) => [box, event, target, result, count]);
    expect(records).to.deep.equal([['b', 'keys.rotated', 'Box/b', 'success', 1]]);
  });

  it('ends for now when Postgres is away: it does not wait for each box', async () => {
    const { services, kept } = failing('a', new Outage('Postgres cannot answer now'));
    await upkeepRound(services, log, running);
    expect(kept).to.deep.equal([]);
    expect(lines.join('')).to.contain('upkeep could not finish; it is tried again');
  });

  it('stops between two boxes', async () => {
    const stopping = new AbortController();
    const { services, kept } = failing('none', new Error('never'));
    const { keys } = services;
    const upkeep: typeof keys.upkeep = (...args) => {
      stopping.abort();
      return keys.upkeep(...args);
    };
    await upkeepRound({ ...services, keys: { ...keys, upkeep } }, log, stopping.signal);
    expect(kept).to.deep.equal(['a']);
  });

  it('deletes refresh families that are long over, however many there are', async () => {
    await world.owner.query(
      `INSERT INTO boxgate.refresh_family (box, id, client, version, family_hash, token_hash, session, created_at,
                                           last_used_at, expires_at, ends_at, sessions_end, grant_type)
       SELECT 'a', gen_random_uuid(), 'c', 1, sha256(n::text::bytea), sha256(n::text::bytea), gen_random_uuid(),
              begun, begun, ended, ended, ended, 'c'
         FROM generate_series(1, 2500) n, (VALUES (now() - interval '9 days', now() - interval '5 days')) t (begun, ended)`,
    );
    // A round that a slow disk ends is tried again.
    await eventually('a round comes to its end', async () => {
      lines.length = 0;
      await upkeepRound(world.services, log, running);
      return !lines.join('').includes('could not finish');
    });
    const { rows } = await world.owner.query<{ left: string }>('SELECT count(*) AS left FROM boxgate.refresh_family');
    expect(rows[0]?.left).to.equal('0');
  });

  it('deletes, with a bucket, the revocations of sessions that are gone, however many there are', async () => {
    const yesterday = Math.floor(Date.now() / 86_400_000) - 3;
    await world.owner.query(`CREATE TABLE IF NOT EXISTS boxgate.session_${String(yesterday)}
      PARTITION OF boxgate.session FOR VALUES FROM (${String(yesterday)}) TO (${String(yesterday + 1)});
      INSERT INTO boxgate.bucket VALUES (${String(yesterday)})`);
    await world.owner.query(
      `INSERT INTO boxgate.revocation (box, subject, version, at)
       SELECT 'a', 'client:c' || n, n, now() - interval '9 days' FROM generate_series(1, 2500) n`,
    );
    const left = async () => {
      const { rows } = await world.owner.query<{ left: string }>('SELECT count(*) AS left FROM boxgate.revocation');
      return rows[0]?.left;
    };
    await upkeepRound(world.services, log, running);
    expect(await left()).to.equal('0');
  });

  it('makes the buckets of the days ahead before it says that it has begun, and ends when it is told so', async () => {
    const upkeep = await startUpkeep(world.services, log);
    await upkeep.stop();
    const { rows } = await world.owner.query<{ buckets: string }>(
      `SELECT count(*) AS buckets FROM pg_inherits WHERE inhparent = 'boxgate.session'::regclass`,
    );
    expect(Number(rows[0]?.buckets)).to.be.greaterThan(60);
  });

  it('begins while Postgres is read-only, though a bucket of the days ahead is missing', async () => {
    // E-29: a replica that starts then serves what only reads.
    const { rows } = await world.owner.query<{ name: string; database: string }>(
      `SELECT max(inhrelid::regclass::text) AS name, current_database() AS database FROM pg_inherits
        WHERE inhparent = 'boxgate.session'::regclass`,
    );
    const [{ name, database } = { name: '', database: '' }] = rows;
    await world.owner.query(`DROP TABLE ${name}; ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    const pool = createPool(world.ownerUrl, defaultLimits, 'upkeep-test', () => undefined);
    try {
      await (await startUpkeep({ ...world.services, pool }, log)).stop();
      expect(lines.at(-1)).to.include('read-only');
    } finally {
      await pool.end();
      await world.owner.query(`SET default_transaction_read_only = off;
        ALTER DATABASE ${database} RESET default_transaction_read_only`);
    }
  });
});
