import { expect } from 'chai';
import { browserHash } from '../../../api/credentials/browser-token.ts';
import { deleteSignIns } from '../../../api/db/authorization/sign-in.ts';
import { inBoxWithin } from '../../../api/db/core/transaction.ts';
import type { Connection } from '../../../api/db/core/transaction.ts';
import { lockResources } from '../../../api/db/resource/write.ts';
import { eventually } from '../../support/eventually.ts';
import {
  app,
  ask,
  back,
  codeIn,
  codeOf,
  implicit,
  lives,
  noChallenge,
  redeem,
  tokensOf,
} from './code-flow-requests.ts';
import { makeCodeFlow } from './code-flow-world.ts';
import type { CodeFlow } from './code-flow-world.ts';

describe('a transaction of the code flow', () => {
  let world: CodeFlow['world'];
  let one: CodeFlow['one'];
  let two: CodeFlow['two'];
  let newBox: CodeFlow['newBox'];
  let newPerson: CodeFlow['newPerson'];

  before(async () => {
    ({ world, one, two, newBox, newPerson } = await makeCodeFlow());
  });
  after(() => world.end());

  const steps: readonly [what: string, declared: object, asked: object, next: string][] = [
    [
      'a client that gets refresh tokens',
      { auth: { authorization_code: { redirect_uri: back, refresh_token: true } } },
      {},
      'client',
    ],
    ['prompt=consent', {}, { prompt: 'consent' }, 'consent'],
    ['prompt=login', {}, { prompt: 'login' }, 'sign-in'],
    ['max_age=0', {}, { max_age: '0' }, 'sign-in'],
    ['a scope that nobody has allowed yet', {}, { scope: 'openid email' }, 'consent'],
    [
      'R-07 an audience that nobody has allowed yet',
      { auth: { authorization_code: { redirect_uri: back, audience: ['https://files.example'] } } },
      { audience: 'https://files.example' },
      'consent',
    ],
    [
      'R-B1 a redirect URI that nobody has allowed yet',
      { auth: { authorization_code: { redirect_uri: `${back}/else` } } },
      { redirect_uri: `${back}/else` },
      'consent',
    ],
    ['a client that nobody has allowed anything', { id: 'another' }, { client_id: 'another' }, 'consent'],
  ];
  for (const [what, declared, asked, next] of steps) {
    it(`ends with the right step for ${what}`, async () => {
      const box = await newBox();
      const person = await newPerson(box);
      await world.declare(box, { ...app, ...declared });
      world.clock.now += 10;
      const step = await ask(two, person, asked);
      expect(step.next).to.equal(next);
      const code = codeIn(step);
      if (code !== undefined) expect(await tokensOf(two, person, code)).to.include.keys('refresh_token');
    });
  }

  it('counts the sessions of a client in a box with a limit', async () => {
    const box = await newBox();
    const person = await newPerson(box);
    await world.declare(box, { kind: 'Box', id: box, tokens: { max_sessions_per_client: 3 } });
    const codes = [await codeOf(two, person), await codeOf(two, person)];
    await tokensOf(two, person, codes[0] ?? '');
    expect(await redeem(two, person, codes[1] ?? '')).to.equal('slow_down');
  });

  function requestWaits(): Promise<void> {
    return eventually('the request waits', async () => {
      const { rowCount } = await world.owner.query(
        'SELECT FROM pg_locks JOIN pg_stat_activity a USING (pid) WHERE NOT granted AND a.datname = current_database()',
      );
      return rowCount === 1;
    });
  }

  it("waits for the end of a change of the user's email", async () => {
    const person = await newPerson(await newBox());
    const holding = async (connection: Connection) => {
      const changed = `UPDATE boxgate.user SET email_key = email_key || 'x' WHERE box = $1 AND id = $2`;
      await connection.query(changed, [person.box, person.user]);
      const asked = codeOf(two, person);
      await requestWaits();
      return { asked };
    };
    const { asked } = await inBoxWithin(one.pool, person.box, { mode: 'write', limit: 20_000 }, holding);
    expect(await lives(one, person, await tokensOf(one, person, await asked))).to.equal(true);
  });

  it('waits for the end of a sign-out', async () => {
    const box = await newBox({}, implicit);
    const person = await newPerson(box);
    const holding = async (connection: Connection) => {
      await deleteSignIns(connection, box, browserHash(person.browser));
      const asked = ask(two, person, { response_type: 'token', client_id: 'implicit', scope: '', ...noChallenge });
      await requestWaits();
      return { asked };
    };
    const { asked } = await inBoxWithin(one.pool, box, { mode: 'write', limit: 20_000 }, holding);
    expect((await asked).next).to.equal('sign-in');
  });

  it('waits for the end of a change of the box', async () => {
    const person = await newPerson(await newBox());
    const holding = async (connection: Connection) => {
      await lockResources(connection, person.box);
      const asked = codeOf(two, person);
      await requestWaits();
      return { asked };
    };
    const { asked } = await inBoxWithin(one.pool, person.box, { mode: 'write', limit: 20_000 }, holding);
    expect(await lives(one, person, await tokensOf(one, person, await asked))).to.equal(true);
  });
});
