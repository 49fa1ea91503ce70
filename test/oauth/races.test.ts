import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { basic, readReply, sendForm, textOf } from './requests.ts';
import type { Reply } from './requests.ts';
import { createChance, raceRounds, raceSeed, turns } from './schedule.ts';
import type { Chance } from './schedule.ts';

/** Tokens issued to racing requests. */
interface Given {
  readonly access: string[];
  readonly refresh: string[];
  /** Counts of successful and rejected requests. */
  issued: number;
  refused: number;
}

describe('two replicas on one database', () => {
  const secret = generateClientSecret();
  let database: TestDatabase;
  let one: TestApi;
  let two: TestApi;

  before(async () => {
    const environment = { BOXGATE_FAILURES_PER_CLIENT: '1000000', BOXGATE_FAILURES_PER_BOX: '1000000' };
    database = await freshDatabase();
    one = await startApi({ database, environment });
    two = await startApi({ database, environment });
  });
  after(async () => {
    await Promise.all([one.stop(), two.stop()]);
    await database.drop();
  });

  const at = (api: TestApi, path: string) => `${api.url}/boxes/default${path}`;

  function ask(api: TestApi, id: string): Promise<Reply> {
    const fields = { grant_type: 'client_credentials' };
    return patient(() => sendForm(at(api, '/auth/token'), fields, basic(id, secret)));
  }

  function refresh(api: TestApi, id: string, refresh_token: string): Promise<Reply> {
    const fields = { grant_type: 'refresh_token', client_id: id, refresh_token };
    return patient(() => sendForm(at(api, '/auth/token'), fields));
  }

  /** 401: the token is refused; 403: it lives, and no policy grants anything; 404: one does. */
  async function use(api: TestApi, token: string): Promise<number> {
    const headers = { Authorization: `Bearer ${token}` };
    return (await patient(async () => readReply(await fetch(at(api, '/Client/none'), { headers })))).status;
  }

  function note(given: Given, reply: Reply): void {
    if (reply.status === 200) {
      given.issued += 1;
      given.access.push(textOf(reply, 'access_token'));
      if (textOf(reply, 'refresh_token') !== '') given.refresh.push(textOf(reply, 'refresh_token'));
    } else if (['invalid_grant', 'invalid_client'].includes(textOf(reply, 'error'))) given.refused += 1;
    else if (reply.status !== 503) throw new Error(`unexpected: ${String(reply.status)} ${reply.text}`);
  }

  function declareClient(id: string, chance: Chance): Promise<unknown> {
    const form = chance.pick<object>([{}, { token_format: 'jwt' }]);
    const family = chance.pick<object>([{}, { refresh_token: true }, { refresh_token: true, refresh_rotation: true }]);
    return declareWith(id, { ...form, ...family });
  }

  async function declareWith(id: string, client_credentials: object): Promise<unknown> {
    return one.declare('default', [
      { kind: 'Client', id, secret, grant_types: ['client_credentials'], auth: { client_credentials } },
      { kind: 'AccessPolicy', id: `may-${id}`, engine: 'allow', link: [{ resourceType: 'Client', id }] },
    ]);
  }

  /** Rounds of a race, each with its own seed, which the failure names. */
  async function race(round: (chance: Chance, id: string) => Promise<Given>): Promise<void> {
    const seen = { issued: 0, refused: 0 };
    for (let count = 0; count < raceRounds; count += 1) {
      const seed = raceSeed + count;
      try {
        const given = await round(createChance(seed), `racer-${String(count)}`);
        seen.issued += given.issued;
        seen.refused += given.refused;
      } catch (cause) {
        throw new Error(`round ${String(count)}, BOXGATE_RACE_SEED=${String(raceSeed)}`, { cause });
      }
    }
    // Else the schedule would not reach both sides of the race.
    expect(seen.issued).to.be.above(raceRounds / 10);
    expect(seen.refused).to.be.above(raceRounds / 10);
  }

  async function expectDead(given: Given, refused: number): Promise<void> {
    const uses = [one, two].flatMap((api) => given.access.map((token) => use(api, token)));
    expect((await Promise.all(uses)).filter((status) => status !== refused)).to.deep.equal([]);
  }

  async function expectNoRefresh(given: Given, id: string): Promise<void> {
    for (const token of given.refresh) expect((await refresh(two, id, token)).status).to.equal(400);
  }

  it('T-14 leave no token alive that was issued while its client was deleted, nor when it is created again', async function () {
    this.timeout(600_000);
    await race(async (chance, id) => {
      await declareClient(id, chance);
      const given: Given = { access: [], refresh: [], issued: 0, refused: 0 };
      const issue = async (api: TestApi): Promise<void> => {
        await turns(chance.number(40));
        note(given, await ask(api, id));
      };
      const remove = async (): Promise<void> => {
        await turns(chance.number(30));
        await one.remove('default', [{ kind: 'Client', id }]);
        // From the answer on, nobody gets one on any replica.
        for (const api of [two, one]) expect((await ask(api, id)).status).to.equal(401);
      };
      await Promise.all([remove(), issue(one), issue(two), issue(two), issue(one)]);
      await expectDead(given, 401);
      await declareClient(id, chance);
      await expectDead(given, 401);
      await expectNoRefresh(given, id);
      return given;
    });
  });

  it('T-43 leave no token alive that was refreshed while something ended it', async function () {
    this.timeout(600_000);
    await race(async (chance, id) => {
      await declareWith(id, { refresh_token: true, refresh_rotation: chance.pick([true, false]) });
      const begun = await ask(one, id);
      const [access, token] = [textOf(begun, 'access_token'), textOf(begun, 'refresh_token')];
      const given: Given = { access: [access], refresh: [token], issued: 0, refused: 0 };
      const renew = async (api: TestApi): Promise<void> => {
        await turns(chance.number(40));
        note(given, await refresh(api, id, token));
      };
      const ending = chance.pick(['close', 'revoke', 'revoke refresh', 'client', 'policy']);
      const end = async (): Promise<void> => {
        await turns(chance.number(30));
        await endBy(ending, id, access, token);
        if (ending !== 'policy') expect((await refresh(two, id, token)).status).to.equal(400);
      };
      await Promise.all([end(), renew(one), renew(two), renew(two), renew(one)]);
      await expectDead(given, ending === 'policy' ? 403 : 401);
      if (ending === 'client') await declareWith(id, { refresh_token: true });
      if (ending !== 'policy') await expectNoRefresh(given, id);
      return given;
    });
  });

  async function endBy(ending: string, id: string, access: string, token: string): Promise<void> {
    const own = basic(id, secret);
    if (ending === 'client') await one.remove('default', [{ kind: 'Client', id }]);
    else if (ending === 'policy') await one.remove('default', [{ kind: 'AccessPolicy', id: `may-${id}` }]);
    else if (ending === 'revoke') await expectOk(() => sendForm(at(one, '/auth/revoke'), { token: access }, own));
    else if (ending === 'revoke refresh') await expectOk(() => sendForm(at(one, '/auth/revoke'), { token }, own));
    else {
      const headers = { Authorization: `Bearer ${access}` };
      await expectOk(() => fetch(at(one, '/Session'), { method: 'DELETE', headers }).then(readReply));
    }
  }

  async function expectOk(ask: () => Promise<Reply>): Promise<void> {
    const reply = await patient(ask);
    expect(reply.status, reply.text).to.equal(200);
  }

  /** Told to try again by a machine that is too busy, it does. */
  async function patient(ask: () => Promise<Reply>): Promise<Reply> {
    let reply = await ask();
    for (let tries = 0; tries < 20 && reply.status === 503; tries += 1) reply = await ask();
    return reply;
  }
});
