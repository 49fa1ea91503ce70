import { expect } from 'chai';
import { defaultTimes } from '../../../../operator/kube/client/list-watch.ts';
import {
  reset,
  silence,
  startScriptedApiServer,
  status,
  stream,
  type Fault,
  type ScriptedApiServer,
} from '../../../support/cluster/scripted-api-server.ts';
import { eventually } from '../../../support/eventually.ts';
import { apiOf, sorts, watchThings, type ThingWatch } from '../things.ts';

// The numbers are the rows of the known weaknesses of @kubernetes/client-node 2.0.1, each of which this answers.
describe('a list-watch over a scripted API server', () => {
  let server: ScriptedApiServer;
  let watching: ThingWatch | undefined;
  /**
   * Milliseconds after which an answer is waited for no longer: far beyond what a slow machine needs, where one comes.
   */
  let patience: number;
  beforeEach(async () => {
    patience = 10_000;
    server = await startScriptedApiServer();
    server.put('one', 'a');
  });
  afterEach(async () => {
    await watching?.stop();
    watching = undefined;
    await server.close();
  });

  const asked = (kind: 'list' | 'watch'): URLSearchParams[] =>
    server.requests.filter((one) => one.kind === kind).map(({ query }) => query);

  async function start(...options: Parameters<typeof watchThings> extends [unknown, ...infer Rest] ? Rest : never) {
    watching = watchThings(apiOf(server, undefined, patience), ...options);
    return watching;
  }

  async function watched(things: ThingWatch): Promise<void> {
    await things.synced;
    await eventually('a watch is open', () => server.openWatches() === 1);
  }

  it('lists, then hears of what is made, changed and removed', async () => {
    const things = await start();
    await watched(things);
    expect(things.value('one')).to.equal('a');
    server.put('two', 'b');
    await eventually('it is there', () => things.value('two') === 'b');
    server.put('two', 'c');
    await eventually('it is changed', () => things.value('two') === 'c');
    server.remove('one');
    await eventually('it is gone', () => things.value('one') === undefined);
    expect(things.changes).to.deep.equal(['shop', 'shop', 'shop', 'shop']);
    expect(asked('list')).to.have.length(1);
  });

  it('R-55 counts a kind without a definition as listed where it may lack one, and finds its objects once it has one', async () => {
    server.next('list', status(404), status(404));
    const things = await start({}, undefined, { isOptional: true });
    await things.synced;
    expect(things.value('one')).to.equal(undefined);
    await eventually('it is listed', () => things.value('one') === 'a');
    expect(sorts(things)).to.deep.equal(['not-found', 'not-found']);
    expect(things.failures.map(({ wait }) => wait)).to.deep.equal([25_000, 25_000]);
  });

  it('R-55 never counts any other kind as listed without a list', async () => {
    server.next('list', status(404), status(404));
    const things = await start();
    await things.synced;
    expect(things.value('one')).to.equal('a');
  });

  const troubles: Record<string, Fault> = {
    'a reset': reset,
    'an answer 403': status(403),
    'an answer 429': status(429, { 'Retry-After': '7' }),
    'an answer 500': status(500),
    'an answer 503': status(503),
    'an answer 504': status(504),
    'no answer at all': silence,
    'an answer that is something else': (response) => response.end('{}'),
    'an answer that is no JSON': (response) => response.end('<html>'),
  };
  for (const [what, trouble] of Object.entries(troubles)) {
    it(`row 1, F-06: goes on after ${what} to a list, takes it for no empty list, and backs off`, async () => {
      if (trouble === silence) patience = 1_000;
      server.next('list', trouble, trouble, trouble);
      const things = await start();
      await watched(things);
      expect(things.failures).to.have.length(3);
      expect(things.value('one')).to.equal('a');
      server.next('list', trouble);
      server.compact();
      server.endWatches();
      await eventually('it was listed again', () => things.failures.length === 5 && server.openWatches() === 1);
      expect(things.changes).to.deep.equal(['shop']);
    });

    it(`row 1, F-06: goes on after ${what} to a watch, from where it was`, async () => {
      if (trouble === silence) patience = 1_000;
      const things = await start();
      await watched(things);
      server.next('watch', trouble, trouble);
      server.endWatches();
      server.put('two', 'b');
      await eventually('it heard of it', () => things.value('two') === 'b');
      if (what.startsWith('an answer that is')) return;
      expect(things.failures).to.have.length(2);
      expect(asked('list')).to.have.length(1);
    });
  }

  it('row 1, F-06: waits longer with each failure, up to four seconds, and never less than a server asked for', async () => {
    server.next('list', ...Array.from({ length: 9 }, () => status(500)), status(429, { 'Retry-After': '7' }));
    const things = await start();
    await watched(things);
    const waits = things.failures.map(({ wait }) => wait);
    expect(waits.slice(0, 9)).to.deep.equal([150, 300, 600, 1200, 2400, 3000, 3000, 3000, 3000]);
    expect(waits[9]).to.equal(7_000);
  });

  it('row 2: an end that was asked for is no failure, and begins nothing', async () => {
    const things = await start();
    await watched(things);
    const before = server.requests.length;
    await things.stop();
    await eventually('the watch is closed', () => server.openWatches() === 0);
    server.put('late', 'x');
    expect(server.requests).to.have.length(before);
    expect(things.failures).to.deep.equal([]);
    expect(things.value('late')).to.equal(undefined);
  });

  it('row 3: stopped while it lists, it opens no watch and tells of nothing', async () => {
    let answer: (() => void) | undefined;
    server.next('list', (response) => {
      answer = () => response.end(JSON.stringify({ metadata: { resourceVersion: '101' }, items: [] }));
    });
    const things = await start();
    await eventually('it lists', () => answer !== undefined);
    const stopped = things.stop();
    answer?.();
    await stopped;
    expect(asked('watch')).to.deep.equal([]);
    expect(things.changes).to.deep.equal([]);
  });

  it('row 4: one that is started beside another knows nothing of it, and ends by itself', async () => {
    const things = await start();
    await watched(things);
    const other = watchThings(apiOf(server));
    await eventually('both watch', () => server.openWatches() === 2);
    await other.stop();
    await eventually('one watches', () => server.openWatches() === 1);
    server.put('two', 'b');
    await eventually('it heard of it', () => things.value('two') === 'b');
    expect(other.value('two')).to.equal(undefined);
  });

  it('row 5: a listener that throws is told of as a failure, and loses nothing', async () => {
    const things = await start({}, () => {
      throw new Error('a bug of the listener');
    });
    await watched(things);
    server.put('two', 'b');
    await eventually('it heard of it', () => things.value('two') === 'b');
    expect(things.failures.map(({ error }) => String(error))).to.deep.equal(
      Array.from({ length: 2 }, () => 'Error: a bug of the listener'),
    );
    expect(server.openWatches()).to.equal(1);
  });

  it('row 6: a sign-in that fails is a failure like others', async () => {
    let isBroken = true;
    const token = (): string => {
      if (isBroken) throw new Error('the token file is away');
      return 'token';
    };
    const things = watchThings(apiOf(server, token));
    watching = things;
    await eventually('it failed', () => things.failures.length > 2);
    expect(sorts(things)[0]).to.equal('unavailable');
    isBroken = false;
    await watched(things);
  });

  it('row 7: asks for bookmarks, and for an end that is spread by chance', async () => {
    const things = await start();
    await watched(things);
    expect(asked('watch')[0]?.get('allowWatchBookmarks')).to.equal('true');
    expect(asked('watch')[0]?.get('timeoutSeconds')).to.equal('28');
  });

  it('row 8: goes on from the version of a bookmark', async () => {
    const things = await start();
    await watched(things);
    server.write(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '150' } } })}\n`);
    server.setVersion(149);
    server.compact();
    server.endWatches();
    await eventually('it watches again', () => asked('watch').length === 2);
    expect(asked('watch')[1]?.get('resourceVersion')).to.equal('150');
  });

  const garbage: Record<string, string | Buffer> = {
    'an error within the stream': '{"type":"ERROR","object":{"kind":"Status","code":500,"message":"x"}}\n',
    'a line that is no JSON': '{"type":"ADDED","obj\n',
    'a type that nobody knows': '{"type":"MOVED","object":{}}\n',
    'an event without an object': '{"type":"ADDED"}\n',
    'an event of something else': '{"type":"ADDED","object":{"kind":"Status"}}\n',
    'bytes that are not UTF-8': Buffer.from([0x7b, 0xff, 0xfe, 0x0a]),
  };
  for (const [what, bytes] of Object.entries(garbage)) {
    it(`row 9: ${what} is counted, and everything is listed again`, async () => {
      const things = await start();
      await watched(things);
      server.deaf = true;
      server.put('missed', 'b');
      server.deaf = false;
      server.write(bytes);
      await eventually('it found what it had missed', () => things.value('missed') === 'b');
      expect(sorts(things)).to.deep.equal(['garbled']);
    });
  }

  it('row 9: a line that is cut is counted, and everything is listed again', async () => {
    const things = await start();
    await watched(things);
    server.write('{"type":"ADDED","object":{"meta');
    server.endWatches();
    await eventually('it was listed again', () => asked('list').length === 2);
    expect(sorts(things)).to.deep.equal(['garbled']);
  });

  it('row 10, F-04: a server that ends each watch after an event is asked once in an interval', async () => {
    const interval = 3_600_000;
    const things = await start({ interval });
    await watched(things);
    for (let round = 0; round < 5; round += 1) {
      server.put('one', String(round));
      server.endWatches();
      await eventually('it heard of it', () => things.value('one') === String(round) && server.openWatches() === 1);
    }
    expect(things.waits).to.have.length(5);
    // The waits of the test pass at once: a whole interval is still to be waited for each time, but for what was used.
    expect(things.waits.every((wait) => wait > 0 && wait <= interval)).to.equal(true);
    expect(asked('list')).to.have.length(1);
    expect(things.failures).to.deep.equal([]);
  });

  it('row 12, F-03: a watch of which nothing is heard has failed, and goes on from where it was', async () => {
    const things = await start({ silence: 50 });
    await things.synced;
    await eventually('it failed', () => things.failures.length > 1);
    expect(new Set(sorts(things))).to.deep.equal(new Set(['unavailable']));
    expect(asked('list')).to.have.length(1);
    server.put('two', 'b');
    await eventually('it heard of it', () => things.value('two') === 'b');
  });

  it('row 13: no watch lasts as long as the limits of the library below it', () => {
    const { watchSeconds, silence: limit } = defaultTimes;
    expect(watchSeconds * 1.2 * 1000).to.be.below(limit);
    // F-03: a connection that is half open is noticed in 35 s; undici would cut a body after 300 s.
    expect(limit).to.be.at.most(35_000);
  });

  it('row 14: lists a page after the other', async () => {
    for (let n = 0; n < 1_100; n += 1) server.put(`thing-${String(n)}`, 'x');
    const things = await start();
    await watched(things);
    expect(asked('list').map((query) => query.get('limit'))).to.deep.equal(Array.from({ length: 12 }, () => '100'));
    expect(things.store.inNamespace('shop')).to.have.length(1_101);
    expect(things.changes).to.deep.equal(['shop']);
  });

  it('row 14, F-05: begins a list again of which a page has expired, and takes nothing of it for gone', async () => {
    for (let n = 0; n < 1_100; n += 1) server.put(`thing-${String(n)}`, 'x');
    const things = await start({ relistPeriod: 0 });
    await watched(things);
    const before = asked('list').length;
    server.next('list', (response) => {
      // The first page is answered, the second one has expired.
      server.next('list', status(410));
      response.end(JSON.stringify({ metadata: { resourceVersion: '9999', continue: 'page-1' }, items: [] }));
    });
    server.endWatches();
    await eventually('it watches again', () => server.openWatches() === 1 && things.failures.length === 1);
    expect(sorts(things)).to.deep.equal(['expired']);
    expect(asked('list').length - before).to.equal(14);
    expect(things.store.inNamespace('shop')).to.have.length(1_101);
    expect(things.changes).to.deep.equal(['shop']);
  });

  for (const [what, expired] of Object.entries({
    'an answer': status(410),
    'an event': stream({ type: 'ERROR', object: { kind: 'Status', code: 410, message: 'too old' } }),
  })) {
    it(`F-05: ${what} 410 makes it list once, and notice what is gone`, async () => {
      const things = await start();
      await watched(things);
      server.deaf = true;
      server.remove('one');
      server.put('two', 'b');
      server.deaf = false;
      server.next('watch', expired);
      server.endWatches();
      await eventually('it found what it had missed', () => things.value('two') === 'b');
      expect(things.value('one')).to.equal(undefined);
      expect(asked('list')).to.have.length(2);
    });
  }

  it('row 15, F-08: finds at the next list what no watch ever told', async () => {
    const things = await start({ relistPeriod: 0 });
    await watched(things);
    server.deaf = true;
    server.put('one', 'changed');
    server.endWatches();
    await eventually('it found it', () => things.value('one') === 'changed');
  });

  it('R-55: lists again where that is wanted, once the watch ends', async () => {
    const things = await start();
    await watched(things);
    server.deaf = true;
    server.put('one', 'changed');
    things.relist();
    server.endWatches();
    await eventually('it found it', () => things.value('one') === 'changed');
  });

  it('F-07: takes a stream a byte at a time, and an object of 1.5 MB', async () => {
    const things = await start();
    await watched(things);
    const object = {
      metadata: { name: 'big', namespace: 'shop', uid: 'u', resourceVersion: '500' },
      spec: { value: 'é' },
    };
    const bytes = Buffer.from(`${JSON.stringify({ type: 'ADDED', object })}\n`);
    for (const byte of bytes) server.write(Buffer.from([byte]));
    await eventually('it is there', () => things.value('big') === 'é');
    server.setVersion(600);
    server.put('large', 'x'.repeat(1_500_000));
    await eventually('it is there', () => things.value('large')?.length === 1_500_000);
  });

  it('F-09: what comes twice, late or from the past changes nothing', async () => {
    const things = await start();
    await watched(things);
    server.put('one', 'b');
    await eventually('it is changed', () => things.value('one') === 'b');
    const event = (type: string, resourceVersion: string, value: string, uid = 'uid-101'): string =>
      `${JSON.stringify({ type, object: { metadata: { name: 'one', namespace: 'shop', uid, resourceVersion }, spec: { value } } })}\n`;
    const told = things.changes.length;
    server.write(event('MODIFIED', '102', 'b') + event('MODIFIED', '101', 'a') + event('DELETED', '99', 'a', 'older'));
    server.put('last', 'x');
    await eventually('it heard of it', () => things.value('last') === 'x');
    expect(things.value('one')).to.equal('b');
    expect(things.changes).to.have.length(told + 1);
  });

  it('F-09: a list from the past is not taken, until the past is what there is', async () => {
    const things = await start({ relistPeriod: 0 });
    await watched(things);
    server.setVersion(50);
    server.put('one', 'restored');
    server.endWatches();
    await eventually('it took what there is', () => things.value('one') === 'restored');
    expect(sorts(things)).to.deep.equal(Array.from({ length: 4 }, () => 'unavailable'));
  });

  it('I6: a new version that says the same tells nobody', async () => {
    const things = await start();
    await watched(things);
    for (let n = 0; n < 5; n += 1) server.put('one', 'a');
    server.put('two', 'b');
    await eventually('it heard of it', () => things.value('two') === 'b');
    expect(things.changes).to.deep.equal(['shop', 'shop']);
  });
});
