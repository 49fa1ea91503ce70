import { expect } from 'chai';
import { Refusal } from '../../api/box/state-cache.ts';
import { boxDatabase } from '../records/box-database.ts';
import type { BoxDatabase } from '../records/box-database.ts';
import { cacheRig, nameIn, removeClient, sessionOf, storeClient } from './cache-rig.ts';
import type { CacheRig } from './cache-rig.ts';

describe('the cache of box states', () => {
  let database: BoxDatabase;
  let rig: CacheRig;

  before(async () => {
    database = await boxDatabase();
  });
  after(() => database.end());
  beforeEach(async () => {
    rig = await cacheRig(database);
  });
  afterEach(() => rig.end());

  const store = (id: string, name: string) => storeClient(database, id, name);
  const remove = (id: string) => removeClient(database, id);
  const nameOf = (id: string) => nameIn(rig.cache, id);

  it('decides under what is stored, from the first request on', async () => {
    await store('a', 'first');
    expect(await nameOf('a')).to.deep.equal({ name: 'first' });
    expect(rig.cache.size).to.equal(1);
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
    rig.taken.length = 0;
    for (let count = 0; count < 5; count += 1) await nameOf('a');
    expect(rig.taken).to.deep.equal([]);
  });

  it('loads once for all the requests that wait for it', async () => {
    await store('a', 'together');
    const names = await Promise.all(Array.from({ length: 200 }, () => nameOf('a')));
    expect(names.every((found) => found?.name === 'together')).to.equal(true);
    expect(rig.taken).to.have.length(1);
  });

  it('holds no more than its bound: what was not used for longest is dropped, and loaded when it is asked for', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `many-${String(index)}`);
    await database.owner.query(`INSERT INTO boxgate.box (box) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, [
      names,
    ]);
    const bounded = rig.createCache(60);
    const asked = async (box: string) => bounded.decide(box, async (state) => state.box);
    await store('a', 'still there');
    for (const box of names) {
      expect(await asked(box)).to.equal(box);
      expect(await nameIn(bounded, 'a')).to.deep.equal({ name: 'still there' });
    }
    expect(bounded.size).to.be.within(5, 12);
    rig.taken.length = 0;
    await nameIn(bounded, 'a');
    expect(rig.taken, 'the one that is used stays').to.deep.equal([]);
    const all = await Promise.all([...names, ...names].map(asked));
    expect(all).to.deep.equal([...names, ...names]);
    expect(bounded.size).to.be.within(5, 12);
  });

  it('knows no box that is not there, and asks for it in a shared statement only', async () => {
    const answers = Array.from({ length: 50 }, (_, index) =>
      rig.cache.decide(`no-box-${String(index)}`, () =>
        Promise.reject(new Error('decided on a box that is not there')),
      ),
    );
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set([undefined]));
    expect(rig.taken).to.deep.equal([]);
    expect(rig.cache.size).to.equal(0);
  });

  it('knows a box as soon as it is there', async () => {
    const decide = () => rig.cache.decide('late', async () => 'there');
    expect(await decide()).to.equal(undefined);
    await database.owner.query(`INSERT INTO boxgate.box (box) VALUES ('late')`);
    expect(await decide()).to.equal('there');
  });

  it('decides again when the configuration moved under the decision, and gives only the answer of the last one', async () => {
    await store('a', 'before');
    const seen: (string | undefined)[] = [];
    const answer = await rig.cache.decide('default', async (state) => {
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
    const answer = await rig.cache.decide('default', async (state) => {
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

  it('gives a refusal only under the current configuration', async () => {
    await store('a', 'before');
    const seen: (string | undefined)[] = [];
    const decided = rig.cache.decide('default', async (state) => {
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
      const decided = rig.cache.decide('default', async (state, statements) => {
        versions.push(state.version);
        const read = await statements.family({ box: 'default', id: '0'.repeat(32), hash: '0'.repeat(64) });
        expect(read).to.equal(undefined);
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
    const decide = rig.cache.decide('default', () => Promise.reject(new RangeError('of the decision')));
    await decide.then(
      () => expect.fail('it did not throw'),
      (error: unknown) => expect(error).to.be.instanceOf(RangeError),
    );
  });
});
