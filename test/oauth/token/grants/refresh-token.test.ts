import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  firstRefreshToken,
  parseRefreshToken,
  refreshTokenText,
} from '../../../../api/credentials/refresh-token-text.ts';
import { checkBearer } from '../../../../api/oauth/session/check-token.ts';
import { introspect } from '../../../../api/oauth/session/introspection.ts';
import { familyOf, makeRefreshWorld, secret, succeeded } from '../../refresh-world.ts';
import type { RefreshWorld, Used } from '../../refresh-world.ts';
import { basic } from '../../requests.ts';
import { formRequest } from '../../world.ts';
import { NO_CHECKS } from '../../no-checks.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('the refresh token grant', () => {
  const start = Date.now();
  let world: RefreshWorld;

  before(async () => {
    world = await makeRefreshWorld();
  });
  after(() => world.end());
  beforeEach(() => {
    world.clock.now = start;
  });

  const begin = (...args: Parameters<RefreshWorld['begin']>) => world.begin(...args);
  const use = (...args: Parameters<RefreshWorld['use']>) => world.use(...args);
  const lives = (text: string | undefined) => world.lives(text);

  it('gives a new access token and its seconds, and leaves the refresh token as it is', async () => {
    const first = await begin('sliding');
    const again = succeeded(await use(first.refresh_token, 'sliding'));
    expect(again).to.have.all.keys('token_type', 'access_token', 'expires_in');
    expect(again.expires_in).to.equal(300);
    expect(again.access_token).not.to.equal(first.access_token);
    expect(await lives(again.access_token)).to.equal(true);
    expect(await lives(first.access_token), 'the one before lives on').to.equal(true);
    expect(succeeded(await use(first.refresh_token, 'sliding'))).not.to.have.property('refresh_token');
  });

  it('makes a session of its own, whose parent is the one that was refreshed', async () => {
    const { refresh_token } = await begin('sliding', { scope: 'read', audience: 'x' });
    for (let count = 0; count < 2; count += 1) {
      world.clock.now += 1;
      succeeded(await use(refresh_token, 'sliding'));
    }
    const { rows } = await world.owner.query<{ type: string; parent: string | null; id: string }>(
      `SELECT s.id, s.type, s.parent, s.scope, s.audience, host(s.remote_addr) AS addr FROM boxgate.session s
        WHERE s.family = $1 ORDER BY s.id`,
      [familyOf(refresh_token)],
    );
    expect(rows.map(({ type }) => type)).to.deep.equal(['c', 'r', 'r']);
    expect(rows.map(({ parent }) => parent)).to.deep.equal([null, rows[0]?.id, rows[1]?.id]);
    for (const row of rows) expect(row).to.deep.include({ scope: 'read', audience: ['x'], addr: '192.0.2.1' });
  });

  it('T-44 slides with each use, up to an absolute end', async () => {
    const { refresh_token } = await begin('sliding');
    for (let hours = 20; hours < 72; hours += 20) {
      world.clock.now = start + hours * hour;
      succeeded(await use(refresh_token, 'sliding'));
    }
    world.clock.now = start + 3 * day - 1000;
    succeeded(await use(refresh_token, 'sliding'));
    world.clock.now = start + 3 * day;
    expect(await use(refresh_token, 'sliding')).to.equal('invalid_grant');
  });

  it('T-44 tells of no end beyond the absolute one', async () => {
    const { refresh_token } = await begin('sliding');
    for (const hours of [20, 40, 60]) {
      world.clock.now = start + hours * hour;
      succeeded(await use(refresh_token, 'sliding'));
    }
    const request = formRequest({ token: refresh_token ?? '' }, { authorization: basic('other', secret) });
    const exp = Math.floor((start + 3 * day) / 1000);
    expect(await introspect(request, world.services, NO_CHECKS)).to.include({ active: true, exp });
  });

  it('T-44 ends ten years of sliding at the year that is the default', async () => {
    const { refresh_token } = await begin('other', {}, 'elsewhere');
    let uses = 0;
    for (let days = 25; days < 3650; days += 25) {
      world.clock.now = start + days * day;
      await makeBucketsOf(world.clock.now);
      const answer = await use(undefined, 'other', {
        box: 'elsewhere',
        authorization: basic('other', secret),
        fields: { refresh_token: refresh_token ?? '' },
      });
      if (typeof answer === 'string') break;
      uses += 1;
    }
    expect(uses).to.equal(14);
    expect(world.clock.now).to.equal(start + 375 * day);
  });

  async function makeBucketsOf(time: number): Promise<void> {
    await world.owner.query('SELECT boxgate.make_buckets($1)', [[0, 1].map((at) => Math.floor(time / day) + at)]);
  }

  it('T-44 refuses a token that was not used for its lifetime', async () => {
    const { refresh_token } = await begin('sliding');
    world.clock.now = start + day;
    expect(await use(refresh_token, 'sliding')).to.equal('invalid_grant');
  });

  describe('T-44 refuses', () => {
    const whole = refreshTokenText(firstRefreshToken(randomUUID().replaceAll('-', '')));
    const rows: Record<string, { ask: (mine: string) => Promise<Used>; error: string }> = {
      "another client's id": { ask: (mine) => use(mine, 'other'), error: 'invalid_grant' },
      'an unknown client': { ask: (mine) => use(mine, 'nobody'), error: 'invalid_grant' },
      'a client of the same name in another box': {
        ask: (mine) => use(mine, 'sliding', { box: 'elsewhere', authorization: basic('sliding', secret) }),
        error: 'invalid_grant',
      },
      'an unknown token': { ask: () => use(whole, 'sliding'), error: 'invalid_grant' },
      'a guess at the secret part': { ask: (mine) => use(forged(mine), 'sliding'), error: 'invalid_grant' },
      'a token cut short': { ask: (mine) => use(mine.slice(0, -1), 'sliding'), error: 'invalid_grant' },
      'no token': { ask: () => use('', 'sliding'), error: 'invalid_request' },
      'a wider scope': {
        ask: (mine) => use(mine, 'sliding', { fields: { scope: 'read write' } }),
        error: 'invalid_scope',
      },
      'another audience': {
        ask: (mine) => use(mine, 'sliding', { fields: { audience: 'https://elsewhere' } }),
        error: 'invalid_target',
      },
      'a wrong secret': {
        ask: (mine) => use(mine, 'sliding', { authorization: basic('sliding', 'wrong') }),
        error: 'invalid_client',
      },
    };
    for (const [what, { ask, error }] of Object.entries(rows)) {
      it(`${what}, and uses nothing up: ${error}`, async () => {
        const { refresh_token = '' } = await begin('sliding', { scope: 'read' });
        expect(await ask(refresh_token)).to.equal(error);
        succeeded(await use(refresh_token, 'sliding'));
      });
    }
  });

  it('T-44 narrows the scope for one access token only', async () => {
    const { refresh_token } = await begin('sliding', { scope: 'read write' });
    for (const [fields, scope] of [
      [{ scope: 'write' }, 'write'],
      [{}, 'read write'],
    ] as const) {
      world.clock.now += 1;
      expect(succeeded(await use(refresh_token, 'sliding', { fields })).scope).to.equal(scope);
    }
    const { rows } = await world.owner.query<{ scope: string }>(
      'SELECT scope FROM boxgate.session WHERE family = $1 ORDER BY id',
      [familyOf(refresh_token)],
    );
    expect(rows.map(({ scope }) => scope)).to.deep.equal(['read write', 'write', 'read write']);
  });

  it('T-45 takes no access token for a refresh token, nor the other way round', async () => {
    const { access_token, refresh_token } = await begin('sliding');
    expect(await use(access_token, 'sliding')).to.equal('invalid_grant');
    const { services } = world;
    const asBearer = await services.states.decide('default', (state, statements) =>
      checkBearer(refresh_token ?? '', { state, statements, services }),
    );
    expect(asBearer).to.equal(undefined);
  });

  describe('demands the secret', () => {
    it('of a client whose refresh requires it', async () => {
      const { refresh_token } = await begin('strict');
      expect(await use(refresh_token, 'strict')).to.equal('invalid_client');
      succeeded(await use(refresh_token, 'strict', { authorization: basic('strict', secret) }));
      succeeded(await use(refresh_token, 'strict', { fields: { client_secret: secret } }));
    });

    it('in a box whose compatibility.refresh_without_secret is false', async () => {
      await world.declare('switched', {
        kind: 'Box',
        id: 'switched',
        compatibility: { refresh_without_secret: false },
      });
      await world.declare('switched', {
        kind: 'Client',
        id: 'sliding',
        secret,
        grant_types: ['client_credentials'],
        auth: { client_credentials: { refresh_token: true } },
      });
      const { refresh_token } = await begin('sliding', {}, 'switched');
      expect(await use(refresh_token, 'sliding', { box: 'switched' })).to.equal('invalid_client');
      succeeded(await use(refresh_token, 'sliding', { box: 'switched', authorization: basic('sliding', secret) }));
    });

    it('in a strict box', async () => {
      const { refresh_token } = await begin('sliding', {}, 'elsewhere');
      expect(await use(refresh_token, 'sliding', { box: 'elsewhere' })).to.equal('invalid_client');
      succeeded(await use(refresh_token, 'sliding', { box: 'elsewhere', authorization: basic('sliding', secret) }));
    });
  });

  it('signs a JWT again for a client of JWTs', async () => {
    const { refresh_token } = await begin('jwt');
    const again = succeeded(await use(refresh_token, 'jwt'));
    expect(again.access_token.split('.')).to.have.length(3);
    expect(await lives(again.access_token)).to.equal(true);
  });

  describe('ends with its client:', () => {
    const ends: Record<string, (id: string) => Promise<void>> = {
      'deleted and created again': async (id) => {
        await world.remove('default', 'Client', id);
        await declareRefreshed(id);
      },
      'switched off and on': async (id) => {
        await declareRefreshed(id, { active: false });
        await declareRefreshed(id);
      },
      'revoked by time': (id) => declareRefreshed(id, { revoke_sessions_before: new Date(start + 1).toISOString() }),
      'without refresh tokens': (id) => declareRefreshed(id, { auth: {} }),
    };
    for (const [how, end] of Object.entries(ends)) {
      it(how, async () => {
        const id = `ended-${randomUUID()}`;
        await declareRefreshed(id);
        const { refresh_token, access_token } = await begin(id);
        world.clock.now += 1000;
        const refreshed = succeeded(await use(refresh_token, id));
        await end(id);
        expect(await use(refresh_token, id)).to.equal('invalid_grant');
        if (how === 'without refresh tokens') return;
        expect(await lives(access_token)).to.equal(false);
        // Got after the time of `revoked by time`, with a refresh token from before it.
        expect(await lives(refreshed.access_token)).to.equal(false);
      });
    }

    function declareRefreshed(id: string, over: object = {}): Promise<void> {
      const auth = { client_credentials: { refresh_token: true } };
      return world.declare('default', {
        kind: 'Client',
        id,
        secret,
        grant_types: ['client_credentials'],
        auth,
        ...over,
      });
    }
  });
});

/** The same token with another secret part, and a checksum that fits. */
function forged(text: string): string {
  const parsed = parseRefreshToken(text);
  return parsed === undefined ? '' : refreshTokenText({ ...parsed, tokenSecret: Buffer.alloc(32) });
}
