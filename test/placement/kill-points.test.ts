import { expect } from 'chai';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/eventually.ts';
import { ask, declareBox, declareClient, introspect, issue, listByHost, move, post } from './box-calls.ts';
import type { Box } from './box-calls.ts';
import { startKillingProxy } from './killing-proxy.ts';
import { names, threeDatabases } from './three-databases.ts';
import type { Name, ThreeDatabases } from './three-databases.ts';

type Side = 'home' | 'source' | 'target';

/** The steps of a move in their order, each by a statement of it. */
const steps: readonly (readonly [step: string, side: Side, statement: RegExp])[] = [
  ['the end of writes', 'source', /transit = 'leaving', counterpart/],
  ['the wait for older transactions', 'source', /FROM pg_locks/],
  ['the partitions', 'target', /make_buckets/],
  ['the row of the box', 'target', /receive_rows/],
  ['the first rows', 'target', /receive_rows.{10,45}resource/s],
  ['the last rows', 'target', /receive_rows.{10,45}audit_event/s],
  ['the comparison', 'target', /DECLARE rows CURSOR/],
  ['the switch', 'source', /transit = 'moved'/],
  ['the hosts', 'target', /INSERT INTO boxgate\.box_host/],
  ['the arrival', 'target', /AND transit = 'arriving'/],
  ['the directory', 'home', /INSERT INTO boxgate\.placement AS/],
];

const ways: readonly [Way, ...Way[]] = [
  ['eu', 'us'],
  ['home', 'eu'],
  ['us', 'home'],
];

/** A move from a database to another. The home database has the hosts of all boxes: a box takes none along to it. */
type Way = readonly [from: Name, to: Name];

const switched = steps.findIndex(([step]) => step === 'the switch');

/** A step at which something happens to a move. */
interface Point {
  readonly side: Side;
  readonly statement: RegExp;
  readonly way: 'before' | 'after';
  readonly from: Name;
  readonly to: Name;
}

const points = steps.flatMap(([step, side, statement], index) =>
  (['before', 'after'] as const).map((way, after) => {
    const [from, to] = ways[step === 'the hosts' ? after : (2 * index + after) % ways.length] ?? ways[0];
    return { step, side, statement, way, from, to, isSwitched: index + after > switched };
  }),
);

/** Until the switch, a step leaves the databases as the next one finds them: both are met by `make faults` alone. */
const met = points.filter(
  ({ way, isSwitched }) => way === 'before' || isSwitched || process.env['BOXGATE_CRASH_POINTS'] === 'all',
);

/** Things that a box has acknowledged before it is moved. */
interface Acknowledged {
  readonly token: string;
  readonly refreshToken: string;
  readonly revoked: string;
  readonly closed: string;
  readonly user: string;
}

describe('a replica that is killed while it moves a box', () => {
  let databases: ThreeDatabases;
  let other: ApiProcess;

  before(async () => {
    databases = await threeDatabases();
    const { BOXGATE_DATABASE_URL, ...environment } = databases.environment();
    other = await startApiProcess(BOXGATE_DATABASE_URL, environment);
  });
  after(async () => {
    await other.end('SIGTERM');
    await databases.drop();
  });

  async function acknowledged(box: Box): Promise<Acknowledged> {
    const [token, revoked, closed] = [await issue(other, box), await issue(other, box), await issue(other, box)];
    const access = (answer: typeof token): string => String(answer.json['access_token']);
    const user = { email: `ann@${box.host}`, password: 'correct horse battery' };
    const created = await ask(other, box, ['POST', '/users'], access(token), user);
    const ends = [
      await post(other, box, '/auth/revoke', { token: access(revoked) }),
      await ask(other, box, ['DELETE', '/Session'], access(closed)),
    ];
    expect([created, ...ends].map(({ status }) => status)).to.deep.equal([201, 200, 200]);
    await declareClient(other, box, 'late');
    return {
      token: access(token),
      refreshToken: String(token.json['refresh_token']),
      revoked: access(revoked),
      closed: access(closed),
      user: String(created.json['id']),
    };
  }

  /** Moves a box by a replica of its own, to which something happens at the point; returns the status of its answer. */
  async function moved(box: Box, point: Point, meet: (mover: ApiProcess) => Promise<boolean>): Promise<unknown> {
    const { side, statement, way, from, to } = point;
    const name = { home: 'home', source: from, target: to } as const;
    const proxy = await startKillingProxy(Number(new URL(databases.urls.home).port), { statement, way });
    const { BOXGATE_DATABASE_URL, ...environment } = databases.environment({ [name[side]]: proxy.port });
    const mover = await startApiProcess(BOXGATE_DATABASE_URL, environment);
    let meeting: Promise<boolean> | undefined;
    proxy.arm(() => (meeting = meet(mover)));
    try {
      const answered = await move(mover, box, to).catch(() => undefined);
      expect(await meeting, 'the point was not met').not.to.equal(undefined);
      return answered;
    } finally {
      if (!mover.hasEnded()) await mover.end('SIGKILL');
      await proxy.close();
    }
  }

  async function killed(box: Box, point: Point): Promise<void> {
    const answered = await moved(box, point, async (mover) => {
      await mover.end('SIGKILL');
      return false;
    });
    expect(answered, 'the answer of a killed one').to.equal(undefined);
  }

  async function expectAll(box: Box, { token, refreshToken, revoked, closed, user }: Acknowledged): Promise<void> {
    for (const one of [token, revoked, closed]) {
      const { json } = await introspect(other, box, one);
      expect(json, one === token ? 'a token' : 'a revoked token').to.include({ active: one === token });
    }
    const refreshed = await post(other, box, '/auth/token', {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    });
    expect(refreshed.status, 'a refresh').to.equal(200);
    expect((await ask(other, box, ['GET', `/users/${user}`], token)).status, 'a user').to.equal(200);
    expect((await ask(other, box, ['GET', '/Client/late'], token)).status, 'a client').to.equal(200);
    expect((await listByHost(other, box, token)).status, 'a request by host').to.equal(200);
    expect((await issue(other, box)).status, 'a new token').to.equal(200);
  }

  for (const [index, point] of met.entries()) {
    const { step, way, from, to, isSwitched } = point;
    it(`${way} ${step} loses nothing of it, and another one ends the move from ${from} to ${to}`, async () => {
      const box = await declareBox(other, `box-${String(index)}`, from);
      const before = await acknowledged(box);
      await killed(box, point);
      if (!isSwitched) {
        expect((await introspect(other, box, before.token)).json, 'a token meanwhile').to.include({ active: true });
      }
      // Until then, an operator asks again and again.
      await eventually('the box is moved', async () => (await move(other, box, to)) === 200);
      expect(await databases.servedIn(box.name)).to.deep.equal([to]);
      await expectAll(box, before);
    });
  }

  it('takes writes again by itself if the box had not left yet', async () => {
    const left = points.filter(({ isSwitched, way }) => !isSwitched && way === 'after');
    const boxes: { readonly box: Box; readonly from: Name; readonly before: Acknowledged }[] = [];
    for (const [index, point] of left.entries()) {
      const box = await declareBox(other, `left-${String(index)}`, point.from);
      boxes.push({ box, from: point.from, before: await acknowledged(box) });
      await killed(box, point);
    }
    for (const { box, from, before } of boxes) {
      await eventually('the box takes writes', async () => (await issue(other, box)).status === 200);
      expect(await databases.servedIn(box.name)).to.deep.equal([from]);
      await expectAll(box, before);
      const [to] = names.filter((name) => name !== from);
      await eventually('the box is moved', async () => (await move(other, box, to ?? 'home')) === 200);
      await expectAll(box, before);
    }
  });

  /** Beginnings of transactions: whatever is held up in one holds up the move of the other one. */
  const held: readonly (readonly [step: string, side: Side, statement: RegExp])[] = [
    ['the end of writes', 'source', /READ COMMITTED.* boxgate\.box = .* statement_timeout = 10000/s],
    ['the row of the box', 'target', /READ COMMITTED.* boxgate\.box = .* statement_timeout = 60000/s],
    ['the arrival', 'target', /READ COMMITTED.* boxgate\.box = .* statement_timeout = 10000/s],
    ['the directory', 'home', /INSERT INTO boxgate\.placement AS/],
  ];
  for (const [index, [step, side, statement]] of held.entries()) {
    for (const last of ['eu', 'us'] as const) {
      // A late beginning of a move is a move.
      if (index === 0 && last === 'us') continue;
      it(`and one that was held up at ${step} changes nothing of a box that another one has moved to ${last}`, async () => {
        const box = await declareBox(other, `held-${String(index)}-${last}`, 'us');
        const before = await acknowledged(box);
        const movedTo = (to: Name): Promise<void> =>
          eventually(`the box is moved to ${to}`, async () => (await move(other, box, to)) === 200);
        await moved(box, { side, statement, way: 'before', from: 'us', to: 'eu' }, async () => {
          await movedTo('eu');
          if (last === 'us') await movedTo(last);
          return true;
        });
        expect(await databases.servedIn(box.name)).to.deep.equal([last]);
        await expectAll(box, before);
        await movedTo('home');
        expect(await databases.servedIn(box.name)).to.deep.equal(['home']);
        await expectAll(box, before);
      });
    }
  }

  it('leaves a box whose copies are compared to the one that has compared them', async () => {
    const box = await declareBox(other, 'compared', 'us');
    const before = await acknowledged(box);
    const row = { side: 'target', statement: /receive_rows/, way: 'before', from: 'us', to: 'eu' } as const;
    await moved(box, row, async () => {
      await killed(box, { ...row, side: 'source', statement: /transit = 'moved'/, way: 'after' });
      return true;
    });
    await eventually('the box is moved', async () => (await move(other, box, 'eu')) === 200);
    expect(await databases.servedIn(box.name)).to.deep.equal(['eu']);
    await expectAll(box, before);
  });
});
