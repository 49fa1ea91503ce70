import { expect } from 'chai';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { introspect } from '../../../api/oauth/session/introspection.ts';
import { rotationGrace } from '../../../api/oauth/refresh/validate-refresh.ts';
import { revoke } from '../../../api/oauth/session/end-session.ts';
import { token } from '../../../api/oauth/token/endpoint.ts';
import type { TokenResponse } from '../../../api/schemas/oauth.ts';
import { basic } from '../requests.ts';
import { formRequest, makeWorld, outcome } from '../world.ts';
import type { World } from '../world.ts';
import { NO_CHECKS } from '../no-checks.ts';

describe('the revocation endpoint', () => {
  const secret = generateClientSecret();
  const start = Date.now();
  let world: World;

  before(async () => {
    world = await makeWorld();
    const client = (id: string, client_credentials: object) =>
      ({ kind: 'Client', id, secret, grant_types: ['client_credentials'], auth: { client_credentials } }) as const;
    const strict = { kind: 'Box', compatibility: { profile: 'strict' } } as const;
    const clients = [
      client('mine', { refresh_token: true, access_token_expiration: 300 }),
      client('rotating', { refresh_token: true, refresh_rotation: true }),
      client('jwt', { token_format: 'jwt', audience: ['https://resource.example'] }),
      client('theirs', {}),
    ];
    await world.declare('default', ...clients, {
      kind: 'Client',
      id: 'public',
      grant_types: ['authorization_code'],
      auth: { authorization_code: { redirect_uri: 'https://app.example/' } },
    });
    await world.declare('strict', ...clients, { ...strict, id: 'strict' });
  });
  after(() => world.end());
  beforeEach(() => {
    world.clock.now = start;
  });

  async function begin(id: string, box = 'default'): Promise<TokenResponse> {
    const request = formRequest({ grant_type: 'client_credentials' }, { box, authorization: basic(id, secret) });
    const response = await token(request, world.services, NO_CHECKS);
    if (response === undefined) throw new Error('no such box');
    return response;
  }

  function end(text: string | undefined, id: string, over: { box?: string; fields?: Record<string, string> } = {}) {
    const fields = { token: text ?? '', ...over.fields };
    const box = over.box ?? 'default';
    return outcome(revoke(formRequest(fields, { box, authorization: basic(id, secret) }), world.services, NO_CHECKS));
  }

  /** As another replica sees it. */
  async function lives(text: string | undefined, box = 'default'): Promise<boolean> {
    const request = formRequest({ token: text ?? '' }, { box, authorization: basic('theirs', secret) });
    return (await introspect(request, world.replica(), NO_CHECKS))?.active === true;
  }

  function refresh(refresh_token: string | undefined, client_id: string) {
    const fields = { grant_type: 'refresh_token', client_id, refresh_token: refresh_token ?? '' };
    return outcome(token(formRequest(fields), world.services, NO_CHECKS));
  }

  async function endOf(text: string | undefined): Promise<unknown> {
    const { rows } = await world.owner.query(
      'SELECT DISTINCT ended_as FROM boxgate.session WHERE family = (SELECT family FROM boxgate.session WHERE id = $1)',
      [idOf(text)],
    );
    return rows;
  }

  it('ends the session of an access token and, with it, its refresh token (RFC 7009 section 2.1)', async () => {
    const { access_token, refresh_token } = await begin('mine');
    expect(await end(access_token, 'mine')).to.equal(true);
    expect(await lives(access_token)).to.equal(false);
    expect(await refresh(refresh_token, 'mine')).to.equal('invalid_grant');
    expect(await endOf(access_token)).to.deep.equal([{ ended_as: 'closed' }]);
  });

  it('ends a refresh token and, with it, every access token of its family', async () => {
    const { access_token, refresh_token } = await begin('mine');
    const again = await refresh(refresh_token, 'mine');
    expect(await end(refresh_token, 'mine')).to.equal(true);
    expect(await refresh(refresh_token, 'mine')).to.equal('invalid_grant');
    expect(await lives(access_token)).to.equal(false);
    expect(typeof again === 'object' && (await lives(again.access_token))).to.equal(false);
    expect(await endOf(access_token)).to.deep.equal([{ ended_as: 'closed' }]);
  });

  it('ends a refresh token whose last session is long gone', async () => {
    const { access_token, refresh_token } = await begin('mine');
    // What the end of a day does: its partition is dropped.
    await world.owner.query('DELETE FROM boxgate.session WHERE id = $1', [idOf(access_token)]);
    expect(await end(refresh_token, 'mine')).to.equal(true);
    expect(await refresh(refresh_token, 'mine')).to.equal('invalid_grant');
  });

  it('ends the family of a refresh token that was rotated away, so that who signs out is signed out', async () => {
    const first = await begin('rotating');
    const second = await refresh(first.refresh_token, 'rotating');
    world.clock.now = start + rotationGrace + 1;
    expect(await end(first.refresh_token, 'rotating')).to.equal(true);
    expect(typeof second === 'object' && (await refresh(second.refresh_token, 'rotating'))).to.equal('invalid_grant');
  });

  for (const box of ['default', 'strict']) {
    it(`ends a JWT for another service, in the box ${box}`, async () => {
      const { access_token } = await begin('jwt', box);
      expect(await lives(access_token, box)).to.equal(true);
      expect(await end(access_token, 'jwt', { box })).to.equal(true);
      expect(await lives(access_token, box)).to.equal(false);
    });
  }

  it('ends a token without a refresh token in the statement after that which finds it', async () => {
    const { access_token } = await begin('theirs');
    await begin('theirs');
    const before = world.taken();
    expect(await end(access_token, 'theirs')).to.equal(true);
    expect(world.taken() - before).to.equal(2);
    expect(await lives(access_token)).to.equal(false);
  });

  it('ends a token once, on two replicas at once, and leaves the others of its client alone', async () => {
    const [{ access_token }, other] = [await begin('theirs'), await begin('theirs')];
    world.takeRecords();
    const request = () => formRequest({ token: access_token }, { authorization: basic('theirs', secret) });
    const replicas = [world.services, world.replica(), world.services, world.replica()];
    const done = await Promise.all(replicas.map((services) => outcome(revoke(request(), services, NO_CHECKS))));
    expect(done).to.deep.equal([true, true, true, true]);
    expect([await lives(access_token), await lives(other.access_token)]).to.deep.equal([false, true]);
    const closed = world.takeRecords().filter(({ event }) => event === 'session.closed');
    expect(closed.map(({ count, target, session }) => [count, target, session?.replaceAll('-', '')])).to.deep.equal([
      [1, 'Client/theirs', idOf(access_token)],
    ]);
  });

  const hints = ['access_token', 'refresh_token', 'pct', 'no such type'];
  for (const token_type_hint of hints) {
    it(`ends a token whatever the hint says: ${token_type_hint} (RFC 7009 section 2.1)`, async () => {
      const { access_token } = await begin('mine');
      expect(await end(access_token, 'mine', { fields: { token_type_hint } })).to.equal(true);
      expect(await lives(access_token)).to.equal(false);
    });
  }

  it('has nothing against a token that does not count (RFC 7009 section 2.2)', async () => {
    const { access_token, refresh_token } = await begin('mine');
    await end(access_token, 'mine');
    for (const text of [access_token, refresh_token, 'garbage', 'bgt_', 'bgr_x', 'a.b.c']) {
      expect(await end(text, 'mine')).to.equal(true);
    }
  });

  it('refuses to end the token of another client, which lives on (RFC 7009 section 2.1)', async () => {
    const { access_token, refresh_token } = await begin('mine');
    expect(await end(access_token, 'theirs')).to.equal('unauthorized_client');
    expect(await end(refresh_token, 'theirs')).to.equal('unauthorized_client');
    expect(await lives(access_token)).to.equal(true);
    expect(typeof (await refresh(refresh_token, 'mine'))).to.equal('object');
  });

  it('knows no token of another box', async () => {
    const { access_token, refresh_token } = await begin('mine');
    expect(await end(access_token, 'mine', { box: 'strict' })).to.equal(true);
    expect(await end(refresh_token, 'mine', { box: 'strict' })).to.equal(true);
    expect(await lives(access_token)).to.equal(true);
  });

  const refusals: Record<string, { fields: Record<string, string>; authorization?: string; error: string }> = {
    'no token': { fields: {}, authorization: basic('mine', secret), error: 'invalid_request' },
    'a wrong secret': { fields: { token: 'x' }, authorization: basic('mine', 'wrong'), error: 'invalid_client' },
    'half a client assertion': {
      fields: { token: 'x', client_assertion: 'e30.e30.e30' },
      error: 'invalid_request',
    },
    'no client': { fields: { token: 'x' }, error: 'invalid_client' },
    'a confidential client that proves nothing': { fields: { token: 'x', client_id: 'mine' }, error: 'invalid_client' },
    'an unknown client that proves nothing': { fields: { token: 'x', client_id: 'nobody' }, error: 'invalid_client' },
    'a secret of a public client': {
      fields: { token: 'x', client_id: 'public', client_secret: secret },
      error: 'invalid_client',
    },
  };
  for (const [what, { fields, authorization, error }] of Object.entries(refusals)) {
    it(`refuses ${what}: ${error}`, async () => {
      const ask = async () =>
        revoke(formRequest(fields, authorization === undefined ? {} : { authorization }), world.services, NO_CHECKS);
      expect(await outcome(ask())).to.equal(error);
    });
  }

  it('takes a public client at its word, for its own tokens only', async () => {
    const { access_token } = await begin('mine');
    const named = (text: string) =>
      outcome(revoke(formRequest({ token: text, client_id: 'public' }), world.services, NO_CHECKS));
    expect(await named('garbage')).to.equal(true);
    expect(await named(access_token)).to.equal('unauthorized_client');
    expect(await lives(access_token)).to.equal(true);
  });

  it('takes no client at its word that has only its previous secret', async () => {
    const grant_types = ['client_credentials'];
    await world.declare('default', { kind: 'Client', id: 'left', grant_types, secret });
    await world.owner.query(
      `WITH b AS (UPDATE boxgate.box SET config_version = config_version + 1 WHERE box = 'default' RETURNING config_version)
       UPDATE boxgate.resource r SET version = b.config_version, previous_secret = secrets[1], previous_until = 'epoch'::timestamptz + interval '1000 years',
              secrets = '{}' FROM b WHERE box = 'default' AND kind = 'Client' AND id = 'left'`,
    );
    expect(await outcome(revoke(formRequest({ token: 'x', client_id: 'left' }), world.services, NO_CHECKS))).to.equal(
      'invalid_client',
    );
    expect(await end('x', 'left')).to.equal(true);
  });

  it('is false when there is no such box', async () => {
    expect(await end('x', 'mine', { box: 'nowhere' })).to.equal(false);
  });
});

/** The session of an opaque token. */
function idOf(text: string | undefined): string {
  return Buffer.from((text ?? '').slice(4), 'base64url').toString('hex', 4, 20);
}
