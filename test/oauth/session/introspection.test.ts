import { expect } from 'chai';
import { crc32 } from 'node:zlib';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { introspect } from '../../../api/oauth/session/introspection.ts';
import { rotationGrace } from '../../../api/oauth/refresh/validate-refresh.ts';
import { token } from '../../../api/oauth/token/endpoint.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { basic } from '../requests.ts';
import { formRequest, makeWorld, outcome } from '../world.ts';
import type { World } from '../world.ts';
import { NO_CHECKS } from '../no-checks.ts';

const issuer = 'https://boxgate.test/boxes/default';

describe('the introspection endpoint', () => {
  const secret = generateClientSecret();
  // A whole second, so that the claims below are exact.
  const start = Math.floor(Date.now() / 1000) * 1000;
  let world: World;

  before(async () => {
    world = await makeWorld();
    const client = (id: string, client_credentials: object, rest: object = {}) =>
      ({
        kind: 'Client',
        id,
        secret,
        grant_types: ['client_credentials'],
        auth: { client_credentials },
        ...rest,
      }) as const;
    const brief = { access_token_expiration: 300 };
    const clients = [
      client('app', { ...brief, refresh_token: true, refresh_token_expiration: 600 }, { scope: ['read', 'write'] }),
      client('rotating', { ...brief, refresh_token: true, refresh_rotation: true }),
      client('jwt', { ...brief, token_format: 'jwt', audience: ['https://resource.example'] }),
      client('resource', {}),
    ];
    await world.declare('default', ...clients, { kind: 'Client', id: 'public', grant_types: ['client_credentials'] });
    await world.declare('strict', ...clients, { kind: 'Box', id: 'strict', compatibility: { profile: 'strict' } });
  });
  after(() => world.end());
  beforeEach(() => {
    world.clock.now = start;
  });

  async function begin(id: string, fields: Record<string, string> = {}, box = 'default'): Promise<TokenResponse> {
    const request = formRequest(
      { grant_type: 'client_credentials', ...fields },
      { box, authorization: basic(id, secret) },
    );
    const response = await token(request, world.services, NO_CHECKS);
    if (response === undefined) throw new Error('no such box');
    return response;
  }

  function ask(text: string | undefined, box = 'default', by = basic('resource', secret)) {
    return outcome(
      introspect(formRequest({ token: text ?? '' }, { box, authorization: by }), world.services, NO_CHECKS),
    );
  }

  const times = { iat: start / 1000, exp: start / 1000 + 300 };

  it('tells what an opaque token stands for (RFC 7662 section 2.2)', async () => {
    const { access_token } = await begin('app', { scope: 'read', audience: 'https://resource.example' });
    const told = await ask(access_token);
    if (typeof told !== 'object' || !told.active) expect.fail('it is not active');
    const { jti, ...others } = told;
    expect(others).to.deep.equal({
      active: true,
      client_id: 'app',
      token_type: 'Bearer',
      sub: 'app',
      iss: issuer,
      aud: ['https://resource.example'],
      scope: 'read',
      ...times,
    });
    expect(jti).to.match(/^[0-9a-f-]{36}$/);
  });

  it('names the issuer as the audience of a token for nobody else, and no scope where there is none', async () => {
    const told = await ask((await begin('app')).access_token);
    expect(told)
      .to.deep.include({ active: true, aud: [issuer] })
      .and.not.to.have.property('scope');
  });

  for (const box of ['default', 'strict']) {
    it(`tells a resource server of a JWT that was issued for it, in the box ${box}`, async () => {
      const told = await ask((await begin('jwt', {}, box)).access_token, box);
      expect(told).to.deep.include({ active: true, client_id: 'jwt', aud: ['https://resource.example'], ...times });
    });
  }

  it('tells of a refresh token without calling it a bearer token', async () => {
    const { refresh_token } = await begin('app', { scope: 'read write' });
    world.clock.now = start + 60_000;
    expect(await ask(refresh_token)).to.deep.equal({
      active: true,
      client_id: 'app',
      sub: 'app',
      iss: issuer,
      scope: 'read write',
      iat: start / 1000,
      exp: start / 1000 + 600,
    });
  });

  it('says of a rotated refresh token that it is not active, once its grace is over, and ends nothing', async () => {
    const { refresh_token } = await begin('rotating');
    const fields = { grant_type: 'refresh_token', client_id: 'rotating', refresh_token: refresh_token ?? '' };
    const next = await token(formRequest(fields), world.services, NO_CHECKS);
    expect(await ask(refresh_token)).to.include({ active: true });
    world.clock.now = start + rotationGrace + 1;
    expect(await ask(refresh_token)).to.deep.equal({ active: false });
    expect(await ask(next?.refresh_token)).to.include({ active: true });
  });

  describe('says nothing but {"active":false}', () => {
    const rows: Record<string, () => Promise<unknown>> = {
      'of a token that expired': async () => {
        const { access_token } = await begin('app');
        world.clock.now = start + 300_000;
        return ask(access_token);
      },
      'of a refresh token that expired': async () => {
        const { refresh_token } = await begin('app');
        world.clock.now = start + 600_000;
        return ask(refresh_token);
      },
      'of a token of another box': async () => ask((await begin('app', {}, 'strict')).access_token),
      'of a refresh token of another box': async () => ask((await begin('app', {}, 'strict')).refresh_token),
      'of a JWT of another box': async () => ask((await begin('jwt', {}, 'strict')).access_token),
      'of garbage': () => ask('garbage'),
      'of what looks like a token': () => ask(`bgt_${'A'.repeat(75)}`),
      'of what looks like a refresh token': () => ask(`bgr_${'A'.repeat(96)}`),
      'of what looks like a JWT': () => ask('a.b.c'),
      'of a client secret': () => ask(secret),
      'of a token with a changed random part': async () => ask(changed((await begin('app')).access_token)),
    };
    for (const [what, told] of Object.entries(rows)) {
      it(what, async () => {
        expect(await told()).to.deep.equal({ active: false });
      });
    }
  });

  it('C-02 answers a client without a grant, which gets no token itself', async () => {
    const box = 'lists-no-grant';
    await world.declare(box, { kind: 'Client', id: 'app', secret, grant_types: ['client_credentials'] });
    await world.declare(box, { kind: 'Client', id: 'watcher', secret, grant_types: [] });
    const grant = formRequest({ grant_type: 'client_credentials' }, { box, authorization: basic('app', secret) });
    const { access_token = '' } = (await token(grant, world.services, NO_CHECKS)) ?? {};
    const by = { box, authorization: basic('watcher', secret) };
    expect(await introspect(formRequest({ token: access_token }, by), world.services, NO_CHECKS)).to.include({
      active: true,
    });
    const own = formRequest({ grant_type: 'client_credentials' }, by);
    expect(await outcome(token(own, world.services, NO_CHECKS))).to.equal('unauthorized_client');
  });

  const refusals: Record<string, { fields: Record<string, string>; by?: string; error: string }> = {
    'no token': { fields: {}, by: basic('resource', secret), error: 'invalid_request' },
    'no client (RFC 7662 section 2.1)': { fields: { token: 'x' }, error: 'invalid_client' },
    'a wrong secret': { fields: { token: 'x' }, by: basic('resource', 'wrong'), error: 'invalid_client' },
    'half a client assertion': {
      fields: { token: 'x', client_assertion: 'e30.e30.e30' },
      error: 'invalid_request',
    },
    'a client that proves nothing': { fields: { token: 'x', client_id: 'resource' }, error: 'invalid_client' },
    'a public client': { fields: { token: 'x', client_id: 'public' }, error: 'invalid_client' },
  };
  for (const [what, { fields, by, error }] of Object.entries(refusals)) {
    it(`refuses ${what}: ${error}`, async () => {
      const ask = async () =>
        introspect(formRequest(fields, by === undefined ? {} : { authorization: by }), world.services, NO_CHECKS);
      expect(await outcome(ask())).to.equal(error);
    });
  }
});

/** The token with another last bit of its random part, and a checksum that fits. */
function changed(text: string): string {
  const bytes = Buffer.from(text.slice(4), 'base64url');
  bytes.writeUInt8(bytes.readUInt8(51) ^ 1, 51);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 52)), 52);
  return `bgt_${bytes.toString('base64url')}`;
}
