import { expect } from 'chai';
import { browserHash } from '../../../api/credentials/browser-token.ts';
import { deleteSignIn } from '../../../api/db/authorization/sign-in.ts';
import { storeConsent } from '../../../api/db/authorization/consent.ts';
import type { BatchedStatements } from '../../../api/db/batched-statements.ts';
import { lockResources } from '../../../api/db/resource/write.ts';
import { inBox, inBoxWithin } from '../../../api/db/core/transaction.ts';
import type { Connection } from '../../../api/db/core/transaction.ts';
import { insertUser } from '../../../api/db/user/user-write.ts';
import { answerConsent } from '../../../api/oauth/authorization/answer-consent.ts';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { decidingUnderLock } from '../wrapped-decisions.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { beginSignIn } from '../../../api/users/sign-in/begin-sign-in.ts';
import { changeUser } from '../../../api/users/user/change.ts';
import { removeGrant } from '../../../api/users/grant/grant-removal.ts';
import { removeUser } from '../../../api/users/user/remove-user.ts';
import { signOut } from '../../../api/users/sign-in/sign-in.ts';
import { eventually } from '../../support/eventually.ts';
import { createChance, raceRounds, raceSeed, turns } from '../schedule.ts';
import { makeWorld, patiently } from '../world.ts';
import type { Declared, World } from '../world.ts';
import {
  app,
  ask,
  back,
  codeIn,
  codeOf,
  implicit,
  lives,
  noChallenge,
  outages,
  redeem,
  tokensOf,
} from './code-flow-requests.ts';
import type { Person } from './code-flow-requests.ts';

describe('the code flow', () => {
  let world: World;
  let one: OAuthServices;
  let two: OAuthServices;
  let made = 0;

  before(async () => {
    world = await makeWorld();
    one = world.services;
    two = world.replica();
  });
  after(() => world.end());

  /** A box of a test's own, in which all have been served once: they hold it, and it has its key. */
  async function newBox(settings: object = {}, ...others: readonly Declared[]): Promise<string> {
    made += 1;
    const box = `box-${String(made)}`;
    await world.declare(box, { kind: 'Box', id: box, ...settings }, app, ...others);
    const person = await newPerson(box);
    for (const services of [one, two]) await tokensOf(services, person, await codeOf(services, person));
    return box;
  }

  async function newPerson(box: string): Promise<Person> {
    made += 1;
    const email = `user-${String(made)}@shop.example`;
    const password = { hash: 'none', pepper: 'none' };
    const fields = { email, emailKey: email, emailVerified: null, password, data: null, status: null };
    return inBox(one.pool, box, 'write', async (connection) => {
      const user = (await insertUser(connection, box, fields)) ?? 0;
      const { rows } = await connection.query<{ version: string }>(
        'SELECT config_version AS version FROM boxgate.box WHERE box = $1',
        [box],
      );
      const who = {
        user: { id: user, password: fields.password },
        version: Number(rows[0]?.version),
        browser: 'none',
        now: one.now(),
      };
      const { browser } = await beginSignIn(connection, box, {}, who);
      const consent = { scopes: ['openid'], version: who.version, since: 0, createdAt: one.now() };
      const target = { redirectUri: back, audience: null };
      await storeConsent(connection, box, { user, client: 'app', target }, consent);
      return { box, user, browser };
    });
  }

  /** A replica whose requests meet something just before they store a code, or redeem one: the first time only. */
  function meeting(what: () => Promise<unknown>, where: 'storeCode' | 'redeem'): OAuthServices {
    let met = false;
    const meet = async (): Promise<void> => {
      if (met) return;
      met = true;
      await what();
    };
    const storeCode = (usual: BatchedStatements): BatchedStatements['storeCode'] => {
      return (code) => (where === 'storeCode' ? meet() : Promise.resolve()).then(() => usual.storeCode(code));
    };
    const redeemed = (usual: BatchedStatements): BatchedStatements['redeem'] => {
      return (one) => (where === 'redeem' ? meet() : Promise.resolve()).then(() => usual.redeem(one));
    };
    return world.replica({
      statements: (usual) => ({ ...usual, storeCode: storeCode(usual), redeem: redeemed(usual) }),
    });
  }

  it('costs two statements for a code, two for its tokens and one for whose they are', async () => {
    const person = await newPerson(await newBox());
    const counts: number[] = [];
    const counted = async <T>(work: Promise<T>): Promise<T> => {
      const before = world.taken();
      const result = await work;
      counts.push(world.taken() - before);
      return result;
    };
    const code = await counted(codeOf(two, person));
    const tokens = await counted(tokensOf(two, person, code));
    expect(await counted(lives(two, person, tokens))).to.equal(true);
    expect(tokens).to.have.all.keys('access_token', 'token_type', 'id_token');
    expect(counts).to.deep.equal([2, 2, 1]);
  });

  /** Revocations of a person's access, and the results of a later request for a code. */
  const takers: Readonly<Record<string, [take: (person: Person) => Promise<unknown>, next: string, error: string]>> = {
    'sign out': [({ box, browser }) => signOut(one, box, browser), 'sign-in', 'invalid_grant'],
    'are disabled': [(person) => change(person, { status: 'inactive' }), 'sign-in', 'invalid_grant'],
    'get a new password': [(person) => change(person, { password: 'correct horse 2' }), 'sign-in', 'invalid_grant'],
    'are deleted': [({ box, user }) => removeUser(recorded(), box, user), 'sign-in', 'invalid_grant'],
    'take their consent back': [
      ({ box, user }) => removeGrant(recorded(), box, { user, client: 'app' }, {}),
      'consent',
      'invalid_grant',
    ],
    'lose the client': [({ box }) => world.remove(box, 'Client', 'app'), 'error-page', 'invalid_client'],
    'have the client created again': [
      async ({ box }) => {
        await world.remove(box, 'Client', 'app');
        await world.declare(box, app);
      },
      'consent',
      'invalid_grant',
    ],
    'lose the client for a while': [
      ({ box }) => world.declare(box, { ...app, active: false }),
      'error-page',
      'invalid_client',
    ],
    'lose the box for a while': [
      ({ box }) => world.declare(box, { kind: 'Box', id: box, active: false }),
      'error-page',
      'invalid_client',
    ],
    'are in a box whose sessions are revoked': [
      ({ box }) => {
        world.clock.now += 2000;
        const revoke_sessions_before = new Date(world.clock.now - 1000).toISOString();
        return world.declare(box, { kind: 'Box', id: box, revoke_sessions_before });
      },
      'sign-in',
      'invalid_grant',
    ],
    'are in a box that is locked': [
      ({ box }) =>
        world.owner.query(
          `UPDATE boxgate.box SET locked_for = 'another', config_version = config_version + 1 WHERE box = $1`,
          [box],
        ),
      'error-page',
      'invalid_client',
    ],
  };

  function recorded() {
    return { ...one, trail: one.trailOf({}) };
  }

  function change({ box, user }: Person, wish: object): Promise<unknown> {
    const settings = { resourceType: 'Box', id: box } as const;
    const change = { id: user, value: wish, by: undefined, preconditions: {} };
    return changeUser(recorded(), { box, settings }, change, (_user, verify) => verify({ box, member: '' }));
  }

  for (const [what, [take, next, error]] of Object.entries(takers)) {
    it(`gives no code to people who ${what} just before it is stored`, async () => {
      const person = await newPerson(await newBox());
      let taken = false;
      const services = meeting(() => take(person).then(() => (taken = true)), 'storeCode');
      const step = await ask(services, person);
      expect([taken, step.next]).to.deep.equal([true, next]);
      const { rows } = await world.owner.query(
        'SELECT FROM boxgate.authorization_answer WHERE box = $1 AND user_id = $2',
        [person.box, person.user],
      );
      expect(rows).to.have.length(0);
    });

    it(`gives no tokens to people who ${what} just before their code is redeemed`, async () => {
      const person = await newPerson(await newBox());
      const code = await codeOf(two, person);
      let taken = false;
      const services = meeting(() => take(person).then(() => (taken = true)), 'redeem');
      expect(await redeem(services, person, code)).to.equal(error);
      expect(taken).to.equal(true);
      const { rows } = await world.owner.query('SELECT FROM boxgate.session WHERE box = $1 AND user_id = $2', [
        person.box,
        person.user,
      ]);
      expect(rows).to.have.length(0);
      expect(await redeem(two, person, code)).to.equal(error);
    });

    it(`leaves people who ${what} no token, and no code that counts`, async () => {
      const person = await newPerson(await newBox());
      const [code, used] = [await codeOf(two, person), await codeOf(two, person)];
      const tokens = await tokensOf(two, person, used);
      await take(person);
      for (const services of [one, two]) {
        expect(await redeem(services, person, code)).to.equal(error);
        expect(await lives(services, person, tokens)).to.equal(false);
        expect((await ask(services, person)).next).to.equal(next);
      }
    });
  }

  it('decides again, and loses no code, when something else of the box moved', async () => {
    const box = await newBox();
    const person = await newPerson(box);
    const other = { kind: 'Client', id: 'other', grant_types: ['client_credentials'] } as const;
    const code = await codeOf(
      meeting(() => world.declare(box, { ...other, name: 'one' }), 'storeCode'),
      person,
    );
    const services = meeting(() => world.declare(box, { ...other, name: 'two' }), 'redeem');
    expect(await lives(two, person, await tokensOf(services, person, code))).to.equal(true);
  });

  it('gives no code once the sign-in has expired', async () => {
    const person = await newPerson(await newBox());
    await world.owner.query('UPDATE boxgate.sign_in SET expires_at = to_timestamp($2 / 1000.0) WHERE box = $1', [
      person.box,
      one.now(),
    ]);
    expect((await ask(one, person)).next).to.equal('sign-in');
  });

  it('refuses the answer to a consent page if another user has signed in than the client expects', async () => {
    const box = await newBox();
    const [person, other] = [await newPerson(box), await newPerson(box)];
    const { id_token } = await tokensOf(one, person, await codeOf(one, person));
    const step = await ask(one, person, { prompt: 'consent', id_token_hint: id_token });
    if (step.next !== 'consent') throw new Error(`no consent page but ${step.next}`);
    await world.owner.query('UPDATE boxgate.sign_in SET user_id = $3 WHERE box = $1 AND user_id = $2', [
      box,
      person.user,
      other.user,
    ]);
    const visit = { box, browser: person.browser, remoteAddr: null, userAgent: null };
    const next = await answerConsent(visit, { id: step.id, answer: 'allow', shown: undefined }, one);
    if (next?.next !== 'client') throw new Error(`no answer to the client but ${String(next?.next)}`);
    expect(new URL(next.answer.address).searchParams.get('error')).to.equal('login_required');
  });

  it('redeems a code for 60 seconds, and not a moment longer', async () => {
    const person = await newPerson(await newBox());
    const [young, old] = [await codeOf(one, person), await codeOf(one, person)];
    world.clock.now += 59_999;
    await tokensOf(one, person, young);
    world.clock.now += 1;
    expect(await redeem(one, person, old)).to.equal('invalid_grant');
  });

  it('T-20 gives nothing to a second use, and revokes what another replica gave to the first', async () => {
    const person = await newPerson(await newBox());
    const code = await codeOf(one, person);
    const first: TokenResponse[] = [];
    const services = meeting(async () => first.push(await tokensOf(two, person, code)), 'redeem');
    expect(await redeem(services, person, code)).to.equal('invalid_grant');
    expect(first).to.have.length(1);
    for (const tokens of first) expect(await lives(two, person, tokens)).to.equal(false);
    expect(world.takeRecords().map(({ event }) => event)).to.contain('code.reused');
  });

  it('T-20 revokes what the first use gave also in a box that changes so often that it decides under the lock', async () => {
    const person = await newPerson(await newBox());
    const code = await codeOf(one, person);
    const tokens = await tokensOf(one, person, code);
    const client = { kind: 'Client', id: 'noise', grant_types: ['client_credentials'] } as const;
    const services = decidingUnderLock(one, (name) => world.declare(person.box, { ...client, name }));
    expect(await redeem(services, person, code)).to.equal('invalid_grant');
    expect(await lives(two, person, tokens)).to.equal(false);
  });

  it('T-20 lets one of a hundred uses at once on two replicas win, and revokes what it got', async () => {
    const person = await newPerson(await newBox());
    const code = await codeOf(one, person);
    const before = outages.count;
    const uses = Array.from({ length: 100 }, (_, index) => redeem(index % 2 === 0 ? one : two, person, code));
    const replies = await Promise.all(uses);
    const won = replies.filter((reply) => typeof reply === 'object');
    // When Postgres was too busy for the answer to the first use, that use comes a second time.
    expect(won.length).to.be.within(outages.count > before ? 0 : 1, 1);
    expect(replies.filter((reply) => reply === 'invalid_grant')).to.have.length(100 - won.length);
    for (const tokens of won) expect(await lives(one, person, tokens)).to.equal(false);
  });

  describe('falls back on a transaction', () => {
    /** A replica on which nothing is done at once, which counts how often it was tried. */
    function slow(): { readonly services: OAuthServices; readonly tried: () => number } {
      let tried = 0;
      const no = (): Promise<boolean> => {
        tried += 1;
        return Promise.resolve(false);
      };
      const services = world.replica({ statements: (usual) => ({ ...usual, storeCode: no, redeem: no }) });
      return { services, tried: () => tried };
    }

    it('where a statement stores nothing', async () => {
      const person = await newPerson(await newBox());
      const { services, tried } = slow();
      const code = await codeOf(services, person);
      const tokens = await tokensOf(services, person, code);
      expect(await lives(services, person, tokens)).to.equal(true);
      expect(tried()).to.equal(2);
    });

    const others: readonly [what: string, declared: object, asked: object, next: string][] = [
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
    for (const [what, declared, asked, next] of others) {
      it(`for ${what}`, async () => {
        const box = await newBox();
        const person = await newPerson(box);
        await world.declare(box, { ...app, ...declared });
        world.clock.now += 10;
        const { services, tried } = slow();
        const step = await ask(services, person, asked);
        expect(step.next).to.equal(next);
        const code = codeIn(step);
        expect(tried()).to.equal(code === undefined ? 0 : 1);
        if (code === undefined) return;
        expect(await tokensOf(services, person, code)).to.include.keys('refresh_token');
        expect(tried()).to.equal(1);
      });
    }

    it('where the box has a limit of sessions', async () => {
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

    it("when the user's email is being changed, and waits for the end of that", async () => {
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

    it('for a token, and waits for the end of a sign-out', async () => {
      const box = await newBox({}, implicit);
      const person = await newPerson(box);
      const holding = async (connection: Connection) => {
        await deleteSignIn(connection, box, browserHash(person.browser));
        const asked = ask(two, person, { response_type: 'token', client_id: 'implicit', scope: '', ...noChallenge });
        await requestWaits();
        return { asked };
      };
      const { asked } = await inBoxWithin(one.pool, box, { mode: 'write', limit: 20_000 }, holding);
      expect((await asked).next).to.equal('sign-in');
    });

    it('when the box is being changed, and waits for the end of that', async () => {
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

  it('T-14 leaves no code and no token alive that was given while something took it away', async function () {
    this.timeout(600_000);
    const endings = ['sign out', 'are disabled', 'get a new password', 'are deleted', 'take their consent back'];
    const box = await newBox();
    const seen = { given: 0, refused: 0 };
    for (let round = 0; round < raceRounds; round += 1) {
      const chance = createChance(raceSeed + round);
      const person = await newPerson(box);
      const [take] = takers[endings[chance.number(endings.length)] ?? ''] ?? [];
      const tokens: TokenResponse[] = [];
      const codes: string[] = [];
      const flow = async (services: OAuthServices, redeemer: OAuthServices): Promise<void> => {
        await turns(chance.number(60));
        const code = codeIn(await ask(services, person));
        if (code === undefined) {
          seen.refused += 1;
          return;
        }
        codes.push(code);
        await turns(chance.number(30));
        const reply = await redeem(redeemer, person, code);
        if (typeof reply === 'object') tokens.push(reply);
        seen[typeof reply === 'object' ? 'given' : 'refused'] += 1;
      };
      const ending = async (): Promise<void> => {
        await turns(chance.number(60));
        await patiently(async () => take?.(person));
        for (const services of [one, two]) expect(codeIn(await ask(services, person))).to.equal(undefined);
      };
      await Promise.all([ending(), flow(one, two), flow(two, one), flow(one, one), flow(two, two)]);
      const which = `round ${String(round)}, BOXGATE_RACE_SEED=${String(raceSeed)}`;
      for (const services of [one, two]) {
        for (const one of tokens) expect(await lives(services, person, one), which).to.equal(false);
        for (const code of codes) expect(await redeem(services, person, code), which).to.equal('invalid_grant');
      }
    }
    // Else the schedule would not reach both sides of the race.
    expect(seen.given).to.be.above(raceRounds / 10);
    expect(seen.refused).to.be.above(raceRounds / 10);
  });
});
