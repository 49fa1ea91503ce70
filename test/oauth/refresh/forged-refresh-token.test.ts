import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { firstRefreshToken, parseRefreshToken, refreshTokenText } from '../../../api/credentials/refresh-token-text.ts';
import { introspect } from '../../../api/oauth/session/introspection.ts';
import { revoke } from '../../../api/oauth/session/end-session.ts';
import { makeRefreshWorld, secret, succeeded } from '../refresh-world.ts';
import type { RefreshWorld } from '../refresh-world.ts';
import { basic } from '../requests.ts';
import { formRequest } from '../world.ts';
import { NO_CHECKS } from '../no-checks.ts';

describe('X-16 a refresh token that nobody issued', () => {
  let world: RefreshWorld;
  let genuine: string;

  before(async () => {
    world = await makeRefreshWorld();
    genuine = (await world.begin('sliding')).refresh_token ?? '';
    await world.use(genuine, 'sliding');
  });
  after(() => world.end());

  const forged: Readonly<Record<string, () => string>> = {
    'of a family that never was': () => refreshTokenText(firstRefreshToken(randomUUID().replaceAll('-', ''))),
    'of a family that is there': () => {
      const { family = '' } = parseRefreshToken(genuine) ?? {};
      return refreshTokenText(firstRefreshToken(family));
    },
  };

  /** Returns how often a piece of work took a connection. */
  async function takenBy(work: () => Promise<unknown>): Promise<number> {
    const before = world.taken();
    await work();
    return world.taken() - before;
  }

  for (const [what, make] of Object.entries(forged)) {
    it(`${what} costs one shared statement, and no transaction`, async () => {
      const refused = async () => expect(await world.use(make(), 'sliding')).to.equal('invalid_grant');
      expect(await takenBy(refused)).to.equal(1);
    });

    it(`${what} shares that statement with others`, async () => {
      const refused = () => Promise.all(Array.from({ length: 100 }, () => world.use(make(), 'sliding')));
      expect(await takenBy(refused)).to.be.at.most(4);
    });

    it(`${what} costs as little where it is introspected or revoked`, async () => {
      const request = () => formRequest({ token: make() }, { authorization: basic('other', secret) });
      const introspected = async () =>
        expect(await introspect(request(), world.services, NO_CHECKS)).to.deep.equal({ active: false });
      expect(await takenBy(introspected)).to.equal(1);
      expect(await takenBy(() => revoke(request(), world.services, NO_CHECKS))).to.equal(1);
    });
  }

  it('makes no signing key', async () => {
    const refused = async () =>
      expect(await world.use(forged['of a family that never was']?.(), 'jwt')).to.be.a('string');
    await refused();
    expect((await world.owner.query('SELECT kid FROM boxgate.signing_key')).rows).to.deep.equal([]);
  });

  it('ends nothing: the genuine one works on', async () => {
    expect(succeeded(await world.use(genuine, 'sliding'))).to.have.property('access_token');
  });

  it('is refused also when its family has ended', async () => {
    const { refresh_token: token = '' } = await world.begin('other');
    await revoke(formRequest({ token }, { authorization: basic('other', secret) }), world.services, NO_CHECKS);
    const refused = async () => expect(await world.use(token, 'other')).to.equal('invalid_grant');
    expect(await takenBy(refused)).to.equal(1);
  });
});
