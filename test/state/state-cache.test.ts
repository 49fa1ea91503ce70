import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createKeySealing } from '../../api/credentials/key-sealing.ts';
import { makeSessionId } from '../../api/credentials/token-text.ts';
import { bumpVersion } from '../../api/db/box/box.ts';
import type { NewSession } from '../../api/db/session/issue.ts';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { batchedStatements } from '../../api/db/batched-statements.ts';
import { defaultBatchLimits } from '../../api/db/core/batch-bounds.ts';
import { Outage } from '../../api/db/core/outage.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { deleteResources, upsertResources } from '../../api/db/resource/write.ts';
import { Refusal } from '../../api/state/refusal.ts';
import { createStateCache } from '../../api/state/state-cache.ts';
import type { StateCache } from '../../api/state/state-cache.ts';
import { insertSession } from '../../api/db/session/session.ts';
import { backUp } from '../support/backup.ts';
import { boxDatabase } from '../resources/box-database.ts';
import type { BoxDatabase } from '../resources/box-database.ts';

describe('the cache of box states', () => {
  let database: BoxDatabase;
  let general: pg.Pool;
  let cache: StateCache;
  let queries: string[];

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());

  beforeEach(async () => {
    await database.owner.query(`DELETE FROM boxgate.resource`);
    general = counted(
      createPool(urlOf(database.pool), { ...defaultLimits, connections: 2 }, 'general', () => undefined),
    );
    queries = [];
    cache = createCache();
  });
  afterEach(() => general.end());

  function createCache(most?: number): StateCache {
    return createStateCache({
      ...(most === undefined ? {} : { most }),
      pool: general,
      statements: batchedStatements(database.pool, defaultBatchLimits),
      sealing: createKeySealing([Buffer.alloc(32)]),
      onUnusable: () => undefined,
    });
  }

  /** Notes when a pool gives out a connection: every load and every transaction takes one. */
  function counted(pool: pg.Pool): pg.Pool {
    pool.on('acquire', () => queries.push('acquired'));
    return pool;
  }

  function store(id: string, name: string): Promise<number> {
    return database.write(async (connection) => {
      const version = await bumpVersion(connection, 'default');
      const body = { resourceType: 'Client', id, grant_types: ['client_credentials'], name };
      const rest = { secrets: undefined, owner: undefined, digest: undefined };
      await upsertResources(connection, 'default', version, [{ kind: 'Client', id, body, ...rest }]);
      return version;
    });
  }

  function remove(id: string): Promise<unknown> {
    return database.write(async (connection) => {
      const version = await bumpVersion(connection, 'default');
      return deleteResources(connection, 'default', version, [{ kind: 'Client', id }]);
    });
  }

  /** The name of a client as a decision sees it. */
  function nameOf(id: string, from = cache): Promise<{ name: string | undefined } | undefined> {
    return from.decide('default', async (state) => ({ name: state.clients.get(id)?.client.name }));
  }

  it('decides under what is stored, from the first request on', async () => {
    await store('a', 'first');
    expect(await nameOf('a')).to.deep.equal({ name: 'first' });
    expect(cache.size).to.equal(1);
  });

  it('sees every change that was committed before the request, without being told', async () => {
    for (const name of ['one', 'two', 'three']) {
      await store('a', name);
      expect(await nameOf('a')).to.deep.equal({ name });
    }
    await remove('a');
    expect(await nameOf('a')).to.deep.equal({ name: undefined });
    await store('a', 'again');
    expect(await nameOf('a')).to.deep.equal({ name: 'again' });
  });

  it('takes no connection of its own while nothing moves', async () => {
    await store('a', 'still');
    await nameOf('a');
    queries = [];
    for (let count = 0; count < 5; count += 1) await nameOf('a');
    expect(queries).to.deep.equal([]);
  });

  it('loads once for all the requests that wait for it', async () => {
    await store('a', 'together');
    const names = await Promise.all(Array.from({ length: 200 }, () => nameOf('a')));
    expect(names.every((found) => found?.name === 'together')).to.equal(true);
    expect(queries).to.have.length(1);
  });

  it('holds no more than its bound: what was not used for longest is dropped, and loaded when it is asked for', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `many-${String(index)}`);
    await database.owner.query(`INSERT INTO boxgate.box (box) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, [
      names,
    ]);
    const bounded = createCache(60);
    const asked = async (box: string) => bounded.decide(box, async (state) => state.box);
    await store('a', 'still there');
    for (const box of names) {
      expect(await asked(box)).to.equal(box);
      expect(await nameOf('a', bounded)).to.deep.equal({ name: 'still there' });
    }
    expect(bounded.size).to.be.within(5, 12);
    queries = [];
    await nameOf('a', bounded);
    expect(queries, 'the one that is used stays').to.deep.equal([]);
    const all = await Promise.all([...names, ...names].map(asked));
    expect(all).to.deep.equal([...names, ...names]);
    expect(bounded.size).to.be.within(5, 12);
  });

  it('knows no box that is not there, and asks for it in a shared statement only', async () => {
    const answers = Array.from({ length: 50 }, (_, index) =>
      cache.decide(`no-box-${String(index)}`, () => Promise.reject(new Error('decided on a box that is not there'))),
    );
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set([undefined]));
    expect(queries).to.deep.equal([]);
    expect(cache.size).to.equal(0);
  });

  it('knows a box as soon as it is there', async () => {
    const decide = () => cache.decide('late', async () => 'there');
    expect(await decide()).to.equal(undefined);
    await database.owner.query(`INSERT INTO boxgate.box (box) VALUES ('late')`);
    expect(await decide()).to.equal('there');
  });

  it('decides again when the configuration moved under the decision, and gives only the answer of the last one', async () => {
    await store('a', 'before');
    const seen: (string | undefined)[] = [];
    const answer = await cache.decide('default', async (state) => {
      const name = state.clients.get('a')?.client.name;
      seen.push(name);
      if (seen.length === 1) await store('a', 'after');
      return name;
    });
    expect(seen).to.deep.equal(['before', 'after']);
    expect(answer).to.equal('after');
  });

  it('decides under a lock once it moved twice, so that a busy box starves nobody', async () => {
    await store('a', 'start');
    let rounds = 0;
    let late: Promise<number> | undefined;
    const answer = await cache.decide('default', async (state) => {
      rounds += 1;
      if (rounds <= 2) await store('a', `round ${String(rounds)}`);
      // Under the lock a change has to wait until the answer is given.
      else late = store('a', 'too late');
      return state.clients.get('a')?.client.name;
    });
    expect(rounds).to.equal(3);
    expect(answer).to.equal('round 2');
    await late;
    expect(await nameOf('a')).to.deep.equal({ name: 'too late' });
  });

  describe('a transaction of a decision', () => {
    it('holds the configuration still until it ends', async () => {
      await store('a', 'before');
      const order: string[] = [];
      let change: Promise<unknown> | undefined;
      await cache.decide('default', (_state, _statements, transaction) =>
        transaction(async (connection) => {
          change = store('a', 'after').then(() => order.push('changed'));
          await connection.query('SELECT pg_sleep(0.05)');
          order.push('done');
        }),
      );
      await change;
      expect(order).to.deep.equal(['done', 'changed']);
    });

    it('is not begun on a configuration that has moved: the decision is repeated', async () => {
      await store('a', 'before');
      await nameOf('a');
      let attempts = 0;
      const worked: string[] = [];
      const answer = await cache.decide('default', async (state, _statements, transaction) => {
        attempts += 1;
        if (attempts === 1) await store('a', 'after');
        return transaction((connection) => {
          worked.push(state.clients.get('a')?.client.name ?? '');
          return connection.query('SELECT 1').then(() => worked.at(-1));
        });
      });
      expect(answer).to.equal('after');
      expect(worked).to.deep.equal(['after']);
    });

    it('is the locked one where the decision is made under a lock: no second connection is waited for', async () => {
      await store('a', 'start');
      const decide = (id: number) => {
        let rounds = 0;
        return cache.decide('default', async (_state, _statements, transaction) => {
          rounds += 1;
          if (rounds <= 2) {
            await store('a', `${String(id)} ${String(rounds)}`);
            return undefined;
          }
          return transaction(async (connection) => (await connection.query('SELECT 1 AS one')).rowCount);
        });
      };
      // More at once than the pool has connections.
      const answers = await Promise.all(Array.from({ length: 6 }, (_, id) => decide(id)));
      expect(answers).to.deep.equal(Array(6).fill(1));
    });

    for (const round of ['first', 'locked'] as const) {
      it(`stays when the decision refuses after it, and leaves nothing when it refuses itself: ${round} round`, async () => {
        await store('a', 'start');
        const refusing = async (where: 'after' | 'inside'): Promise<unknown> => {
          let rounds = 0;
          const decided = cache.decide('default', async (_state, _statements, transaction) => {
            rounds += 1;
            if (round === 'locked' && rounds <= 2) {
              await store('a', `${where} ${String(rounds)}`);
              return;
            }
            await transaction(async (connection) => {
              await insertSession(connection, sessionOf(where), null, null);
              if (where === 'inside') throw new Refusal(where);
            });
            throw new Refusal(where);
          });
          return decided.catch((error: unknown) => error);
        };
        await database.owner.query(`DELETE FROM boxgate.session`);
        for (const where of ['after', 'inside'] as const) {
          expect(await refusing(where))
            .to.be.instanceOf(Refusal)
            .with.property('message', where);
        }
        const { rows } = await database.owner.query<{ client: string }>(`SELECT client FROM boxgate.session`);
        expect(rows).to.deep.equal([{ client: 'after' }]);
      });
    }

    it('leaves nothing behind when its work throws', async () => {
      await store('a', 'kept');
      const failing = cache.decide('default', (_state, _statements, transaction) =>
        transaction(async (connection) => {
          await connection.query(`DELETE FROM boxgate.resource`);
          throw new RangeError('on purpose');
        }),
      );
      await failing.then(
        () => expect.fail('it did not throw'),
        (error: unknown) => expect(error).to.be.instanceOf(RangeError),
      );
      expect(await nameOf('a', createCache())).to.deep.equal({ name: 'kept' });
    });
  });

  describe('F-19 believes a database that went back to a backup', () => {
    let restore: () => Promise<void>;

    beforeEach(async () => {
      await store('a', 'of the backup');
      await store('deleted', 'of the backup');
      restore = await backUp(database.owner);
      await store('a', 'lost');
      await store('b', 'lost');
      await remove('deleted');
      expect(await nameOf('a')).to.deep.equal({ name: 'lost' });
    });

    async function expectTheBackup(): Promise<void> {
      const names = await Promise.all(Array.from({ length: 20 }, () => nameOf('a')));
      expect(new Set(names.map((found) => found?.name))).to.deep.equal(new Set(['of the backup']));
      expect(await nameOf('b'), 'made since the backup').to.deep.equal({ name: undefined });
      expect(await nameOf('deleted')).to.deep.equal({ name: 'of the backup' });
      queries = [];
      await nameOf('a');
      expect(queries, 'it is healed').to.deep.equal([]);
    }

    it('at once', async () => {
      await restore();
      await expectTheBackup();
    });

    it('reads it twice at most for all who ask at once, not once for each', async () => {
      await restore();
      queries = [];
      const names = await Promise.all(Array.from({ length: 200 }, () => nameOf('a')));
      expect(new Set(names.map((found) => found?.name))).to.deep.equal(new Set(['of the backup']));
      expect(queries.length).to.be.within(1, 2);
    });

    for (const changes of [1, 2, 3, 4, 10]) {
      it(`after ${String(changes)} more changes`, async () => {
        await restore();
        for (let count = 0; count < changes; count += 1) await store('c', 'after it');
        await expectTheBackup();
        expect(await nameOf('c')).to.deep.equal({ name: 'after it' });
      });
    }
  });

  it('tells everybody who waits for a box at once that Postgres does not answer', async () => {
    await store('a', 'locked away');
    await nameOf('a');
    await store('a', 'moved');
    const blocker = await database.owner.connect();
    try {
      await blocker.query('BEGIN; LOCK TABLE boxgate.resource IN ACCESS EXCLUSIVE MODE');
      const answers = Promise.allSettled(Array.from({ length: 30 }, () => nameOf('a')));
      // One after the other they would take thirty times as long as a statement may.
      const settled = await Promise.race([answers, sleep(40_000, undefined, { ref: false })]);
      expect(settled, 'they wait for each other').not.to.equal(undefined);
      for (const answer of settled ?? []) {
        expect(answer.status === 'rejected' && answer.reason instanceof Outage).to.equal(true);
      }
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
    }
    expect(await nameOf('a')).to.deep.equal({ name: 'moved' });
  });

  it('goes on reading a box that takes longer than a request can wait: those who ask later are served', async () => {
    await store('a', 'large');
    const slow = await database.owner.connect();
    try {
      await slow.query('BEGIN; LOCK TABLE boxgate.resource IN ACCESS EXCLUSIVE MODE');
      const [first] = await Promise.allSettled([nameOf('a')]);
      expect(first.status).to.equal('rejected');
      queries = [];
    } finally {
      await slow.query('ROLLBACK');
      slow.release();
    }
    expect(await nameOf('a')).to.deep.equal({ name: 'large' });
    expect(queries, 'the load that was begun has served it').to.deep.equal([]);
  });

  it('gives a refusal only under the current configuration', async () => {
    await store('a', 'before');
    const seen: (string | undefined)[] = [];
    const decided = cache.decide('default', async (state) => {
      const name = state.clients.get('a')?.client.name;
      seen.push(name);
      if (seen.length === 1) await store('a', 'after');
      throw new Refusal(`refused: ${String(name)}`);
    });
    const error = await decided.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Refusal).with.property('message', 'refused: after');
    expect(seen).to.deep.equal(['before', 'after']);
  });

  it('ends an attempt whose state moved in place, before it stores or refuses anything', async () => {
    for (const act of ['store', 'refuse'] as const) {
      await store('a', 'before');
      await nameOf('a');
      const versions: number[] = [];
      let stored = 0;
      const decided = cache.decide('default', async (state, statements) => {
        versions.push(state.version);
        const read = await statements.family({ box: 'default', id: '0'.repeat(32), hash: '0'.repeat(64) });
        expect(read).to.equal(false);
        if (versions.length === 1) {
          await store('a', 'after');
          await nameOf('a');
        }
        if (act === 'refuse') throw new Refusal('refused');
        await statements.issue(sessionOf('of-two-states', state.version));
        stored += 1;
        return stored;
      });
      const outcome = await decided.catch((thrown: unknown) => thrown);
      if (act === 'store') expect(outcome).to.equal(1);
      else expect(outcome).to.be.instanceOf(Refusal);
      expect(versions, act).to.have.length(2);
      expect(new Set(versions).size, act).to.equal(2);
    }
    const { rows } = await database.owner.query(`SELECT FROM boxgate.session WHERE client = 'of-two-states'`);
    expect(rows, 'one of them was stored under each attempt').to.have.length(1);
  });

  it('passes on what a decision throws', async () => {
    const decide = cache.decide('default', () => Promise.reject(new RangeError('of the decision')));
    await decide.then(
      () => expect.fail('it did not throw'),
      (error: unknown) => expect(error).to.be.instanceOf(RangeError),
    );
  });
});

function sessionOf(client: string, version = 1): NewSession {
  const now = Date.now();
  const expiresAt = Math.floor(now / 1000) + 60;
  return {
    box: 'default',
    version,
    id: makeSessionId(now),
    bucket: bucketOf(Math.floor(now / 1000), expiresAt),
    expiresAt,
    type: 'c',
    client,
    hash: null,
    remoteAddr: null,
    user: null,
    scope: null,
    audience: null,
    userAgent: null,
  };
}

function urlOf(pool: pg.Pool): string {
  return pool.options.connectionString ?? '';
}
