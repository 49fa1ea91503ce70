import { expect } from 'chai';
import { endRefreshFamily } from '../../../api/oauth/session/end-session.ts';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { familyOf, makeRefreshWorld, secret, succeeded } from '../refresh-world.ts';
import type { RefreshWorld } from '../refresh-world.ts';
import { basic } from '../requests.ts';
import { userTokens } from '../../support/user-token.ts';

describe('a use of a refresh token', () => {
  let world: RefreshWorld;
  let clients = 0;

  before(async () => {
    world = await makeRefreshWorld();
    for (const id of ['sliding', 'rotating']) await world.begin(id);
  });
  after(() => world.end());

  /** Declares a client of a test's own. */
  async function newClient(rotates: boolean): Promise<string> {
    clients += 1;
    const id = `own-${String(clients)}`;
    await declare(id, rotates);
    return id;
  }

  function declare(id: string, rotates: boolean, over: object = {}): Promise<void> {
    const auth = { client_credentials: { refresh_token: true, refresh_rotation: rotates } };
    return world.declare('default', { kind: 'Client', id, secret, grant_types: ['client_credentials'], auth, ...over });
  }

  async function takenBy(work: () => Promise<unknown>): Promise<number> {
    const before = world.taken();
    await work();
    return world.taken() - before;
  }

  /** A replica that meets something just before it stores a use, the first time only; counts what the statement did. */
  function meeting(what: () => Promise<unknown>): { services: OAuthServices; done: readonly boolean[] } {
    const done: boolean[] = [];
    let met = false;
    const services = world.replica({
      statements: (usual) => ({
        ...usual,
        async refresh(use) {
          if (!met) {
            met = true;
            await what();
          }
          const isDone = await usual.refresh(use);
          done.push(isDone);
          return isDone;
        },
      }),
    });
    return { services, done };
  }

  for (const [id, rotates] of [
    ['sliding', false],
    ['rotating', true],
  ] as const) {
    it(`takes two shared statements, and no transaction, at the client ${id}; the first token takes one`, async () => {
      const tokens: string[] = [];
      const issue = async () => tokens.push((await world.begin(id)).refresh_token ?? '');
      expect(await takenBy(issue)).to.equal(1);
      expect(await takenBy(async () => succeeded(await world.use(tokens[0], id)))).to.equal(2);
      const issues = () => Promise.all(Array.from({ length: 60 }, issue));
      expect(await takenBy(issues)).to.be.at.most(6);
      const uses = () => Promise.all(tokens.slice(1).map(async (token) => succeeded(await world.use(token, id))));
      expect(await takenBy(uses)).to.be.at.most(12);
    });

    it(`falls back on a transaction at the client ${id} when the statement stores nothing`, async () => {
      const services = world.replica({ statements: (usual) => ({ ...usual, refresh: () => Promise.resolve(false) }) });
      const { refresh_token } = await world.begin(id);
      const used = succeeded(await world.use(refresh_token, id, { services }));
      expect(await world.lives(used.access_token)).to.equal(true);
      expect('refresh_token' in used).to.equal(rotates);
      succeeded(await world.use(used.refresh_token ?? refresh_token, id, { services }));
    });

    it(`gives no token if the family of the client ${id} is closed just before it is stored`, async () => {
      const { refresh_token } = await world.begin(id);
      const close = () => endRefreshFamily('default', familyOf(refresh_token), 'closed', world.services);
      const { services, done } = meeting(close);
      expect(await world.use(refresh_token, id, { services })).to.equal('invalid_grant');
      expect(done).to.deep.equal([false]);
      expect(await sessions(refresh_token)).to.equal(1);
    });
  }

  async function sessions(refreshToken: string | undefined): Promise<number> {
    const { rowCount } = await world.owner.query('SELECT FROM boxgate.session WHERE family = $1', [
      familyOf(refreshToken),
    ]);
    return rowCount ?? 0;
  }

  it('gives the same successor if another replica used it just before it is stored', async () => {
    const { refresh_token } = await world.begin('rotating');
    const given: (string | undefined)[] = [];
    const other = async () => given.push(succeeded(await world.use(refresh_token, 'rotating')).refresh_token);
    const { services, done } = meeting(other);
    const mine = succeeded(await world.use(refresh_token, 'rotating', { services }));
    expect(done).to.deep.equal([false]);
    expect(given).to.deep.equal([mine.refresh_token]);
    succeeded(await world.use(mine.refresh_token, 'rotating'));
    expect(await world.use(refresh_token, 'rotating')).to.equal('invalid_grant');
    expect(await world.use(mine.refresh_token, 'rotating')).to.equal('invalid_grant');
  });

  it('detects reuse, and ends the family, if its successor was used just before it is stored', async () => {
    const { refresh_token } = await world.begin('rotating');
    let last: string | undefined;
    const others = async () => {
      const second = succeeded(await world.use(refresh_token, 'rotating'));
      last = succeeded(await world.use(second.refresh_token, 'rotating')).refresh_token;
    };
    world.takeRecords();
    const { services, done } = meeting(others);
    expect(await world.use(refresh_token, 'rotating', { services })).to.equal('invalid_grant');
    expect(done).to.deep.equal([false]);
    expect(world.takeRecords().map(({ event }) => event)).to.deep.equal(['refresh_token.reused']);
    expect(await world.use(last, 'rotating')).to.equal('invalid_grant');
  });

  const ends: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    'is removed': (id) => world.remove('default', 'Client', id),
    'is disabled': (id) => declare(id, true, { active: false }),
    'is created again': async (id) => {
      await world.remove('default', 'Client', id);
      await declare(id, true);
    },
    'loses its refresh tokens': (id) => declare(id, true, { auth: { client_credentials: {} } }),
  };
  for (const [what, end] of Object.entries(ends)) {
    it(`gives no token if its client ${what} just before it is stored`, async () => {
      const id = await newClient(true);
      const { refresh_token } = await world.begin(id);
      const { services, done } = meeting(() => end(id));
      const answer = await world.use(refresh_token, id, { services, authorization: basic(id, secret) });
      expect(answer).to.be.oneOf(['invalid_grant', 'invalid_client']);
      expect(done).to.deep.equal([false]);
      expect(await sessions(refresh_token)).to.equal(1);
    });
  }

  it('gives no token if its user is disabled just before it is stored', async () => {
    const id = 'app';
    const code = { redirect_uri: 'https://app.example.com/back', refresh_token: true };
    await world.declare('default', {
      ...{ kind: 'Client', id, secret, grant_types: ['authorization_code'] },
      auth: { authorization_code: code },
    });
    await world.owner.query(
      `INSERT INTO boxgate.user (box, id, email, email_key, password, pepper) VALUES ('default', 7, 'a', 'a', '', '')`,
    );
    const { refresh } = await userTokens(world.ownerUrl, 'default', id, 7);
    // As endUserSessions does it, under a new version of the box.
    const { services, done } = meeting(() =>
      world.owner.query(
        `WITH b AS (UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = 'default' RETURNING config_version),
              v AS (INSERT INTO boxgate.box_version (box, version) SELECT 'default', config_version FROM b)
         UPDATE boxgate.user SET sessions_from = b.config_version FROM b WHERE id = 7`,
      ),
    );
    const use = (over: object) => world.use(refresh, id, { authorization: basic(id, secret), ...over });
    const working = succeeded(await use({}));
    expect(await use({ services, fields: { refresh_token: working.refresh_token ?? refresh } })).to.equal(
      'invalid_grant',
    );
    expect(done).to.deep.equal([false]);
  });

  it('counts the sessions of a client in a transaction where its box limits them', async () => {
    const box = 'limited';
    await world.declare(
      box,
      { kind: 'Box', id: box, tokens: { max_sessions_per_client: 2 } },
      {
        ...{ kind: 'Client', id: 'own', secret, grant_types: ['client_credentials'] },
        auth: { client_credentials: { refresh_token: true } },
      },
    );
    const { refresh_token } = await world.begin('own', {}, box);
    const { services, done } = meeting(() => Promise.resolve());
    succeeded(await world.use(refresh_token, 'own', { box, services }));
    expect(await world.use(refresh_token, 'own', { box, services })).to.equal('slow_down');
    expect(done).to.deep.equal([]);
  });
});
