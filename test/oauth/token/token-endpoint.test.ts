import { expect } from 'chai';
import { basic, claimsOf, headerOf, send, sendForm, sendJson, textOf } from '../requests.ts';
import { chosenSecret, secret, startTokenApi } from '../token-api.ts';
import type { TokenApi } from '../token-api.ts';

const asked = { grant_type: 'client_credentials' };
const issuer = 'http://boxgate.test/boxes/default';

describe('the token endpoint', () => {
  let api: TokenApi;

  before(async () => {
    api = await startTokenApi();
  });
  after(() => api.stop());

  const inBody = { ...asked, client_id: 'plain', client_secret: secret };
  const exact = {
    'T-01 for Basic and a form': () => api.form(asked),
    'T-01 for Basic with a chosen secret': () => api.form(asked, basic('reporting', chosenSecret)),
    'T-04 for Basic, percent-encoded': () => api.form(asked, basic('reporting', encodeURIComponent(chosenSecret))),
    'T-04 for Basic with an escape in the id': () => api.form(asked, basic('pl%61in', secret)),
    'T-04 for Basic with a colon in the secret encoded': () =>
      api.form(asked, basic('reporting', 'a chosen%3A secret with 100%25 %2B')),
    'T-01 for credentials in the form': () => sendForm(api.tokenUrl, inBody),
    'T-02 for credentials in JSON': () => sendJson(api.tokenUrl, inBody),
    'T-02 for Basic and JSON': () => sendJson(api.tokenUrl, asked, basic('plain', secret)),
    'for parameters that nobody knows, which are ignored (RFC 6749 section 3.2)': () =>
      api.form({ ...asked, colour: 'green', state: 'x' }),
    'for parameters that are sent empty, which are left out (RFC 6749 section 3.2)': () =>
      api.form({ ...asked, scope: '', audience: '' }),
  };
  for (const [how, ask] of Object.entries(exact)) {
    it(`${how} gives exactly a type and a token, never cached`, async () => {
      const { status, headers, body } = await ask();
      expect(status).to.equal(200);
      expect(body).to.have.all.keys('token_type', 'access_token');
      expect(body['token_type']).to.equal('Bearer');
      expect(body['access_token']).to.match(/^bgt_[A-Za-z0-9_-]{75}$/);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('pragma')).to.equal('no-cache');
      expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    });
  }

  it('T-01 tells when the token ends where a lifetime is configured', async () => {
    const { body } = await api.form(asked, basic('expiring', secret));
    expect(body).to.have.all.keys('token_type', 'access_token', 'expires_in');
    expect(body['expires_in']).to.equal(60);
  });

  it('T-01 gives a refresh token where that is configured', async () => {
    const { body } = await api.form(asked, basic('refreshing', secret));
    expect(body).to.have.all.keys('token_type', 'access_token', 'refresh_token');
    expect(body['refresh_token']).to.match(/^bgr_/);
  });

  it('gives another token each time', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => api.form(asked)));
    expect(new Set(replies.map((reply) => textOf(reply, 'access_token'))).size).to.equal(50);
  });

  for (const [scope, shown] of Object.entries({ read: 'read', 'write read': 'write read', 'read read': 'read' })) {
    it(`shows the scope "${scope}" as ${shown}`, async () => {
      const { status, body } = await api.form({ ...asked, scope }, basic('scoped', secret));
      expect(status).to.equal(200);
      expect(body['scope']).to.equal(shown);
    });
  }

  const audiences = {
    'asked for': { id: 'bound', audience: 'https://b.example', aud: ['https://b.example'] },
    'listed first where none is asked for': { id: 'bound', audience: undefined, aud: ['https://a.example'] },
    'listed first where an empty one is asked for': { id: 'bound', audience: '', aud: ['https://a.example'] },
    'of the issuer where none is listed': { id: 'plain', audience: undefined, aud: [issuer] },
    'asked for, any, where none is listed': { id: 'plain', audience: 'urn:ä', aud: ['urn:ä'] },
  };
  for (const [what, { id, audience, aud }] of Object.entries(audiences)) {
    it(`T-09 keeps the audience ${what} in the session of an opaque token`, async () => {
      const reply = await api.form({ ...asked, audience }, basic(id, secret));
      expect((await api.introspect(textOf(reply, 'access_token')))['aud']).to.deep.equal(aud);
    });
  }

  it('RFC 8707 takes a resource as the audience, and keeps it through a refresh', async () => {
    const resource = 'https://b.example';
    const bound = await api.form({ ...asked, resource }, basic('bound', secret));
    expect((await api.introspect(textOf(bound, 'access_token')))['aud']).to.deep.equal([resource]);
    const first = await api.form({ ...asked, resource }, basic('refreshing', secret));
    const refresh = { grant_type: 'refresh_token', refresh_token: textOf(first, 'refresh_token') };
    const second = await api.form({ ...refresh, resource }, basic('refreshing', secret));
    expect((await api.introspect(textOf(second, 'access_token')))['aud']).to.deep.equal([resource]);
    const jwt = await api.form({ ...asked, resource }, basic('jwt', secret));
    expect(claimsOf(textOf(jwt, 'access_token'))['aud']).to.equal(resource);
  });

  describe('T-10 gives a JWT', () => {
    it("whose header is the server's choice, with all claims of RFC 9068", async () => {
      const reply = await api.form({ ...asked, alg: 'none', typ: 'JWT' }, basic('jwt-brief', secret));
      const token = textOf(reply, 'access_token');
      expect(headerOf(token)).to.have.all.keys('alg', 'typ', 'kid');
      expect(headerOf(token)).to.deep.include({ alg: 'ES256', typ: 'at+jwt' });
      const claims = claimsOf(token);
      expect(claims).to.have.all.keys('iss', 'sub', 'client_id', 'aud', 'iat', 'exp', 'jti');
      expect(claims).to.deep.include({ iss: issuer, sub: 'jwt-brief', client_id: 'jwt-brief', aud: issuer });
      expect(claims['jti']).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(Number(claims['exp']) - Number(claims['iat'])).to.equal(90);
      expect(reply.body['expires_in']).to.equal(90);
    });

    it('for the audience that is asked for, without expires_in where no lifetime is configured', async () => {
      const reply = await api.form({ ...asked, audience: 'https://any.example' }, basic('jwt', secret));
      expect(claimsOf(textOf(reply, 'access_token'))['aud']).to.equal('https://any.example');
      expect(reply.body).to.have.all.keys('token_type', 'access_token');
    });

    it('of ten years at most: more is refused where it is declared', async () => {
      await declareLong(315_360_000);
      const claims = claimsOf(textOf(await api.form(asked, basic('long', secret)), 'access_token'));
      expect(Number(claims['exp']) - Number(claims['iat'])).to.equal(315_360_000);
    });

    for (const tooLong of [315_360_001, 2 ** 31, 2 ** 53, 1e300, 0, -1, 1.5, '60']) {
      it(`never of ${String(tooLong)} seconds: it is refused where it is declared`, async () => {
        const error = await declareLong(tooLong).then(
          () => 'declared',
          (reason: unknown) => String(reason),
        );
        expect(error).to.contain('auth.client_credentials.access_token_expiration');
      });
    }

    function declareLong(access_token_expiration: unknown): Promise<unknown> {
      const auth = { client_credentials: { token_format: 'jwt', access_token_expiration } };
      return api.declare('default', [
        { kind: 'Client', id: 'long', grant_types: ['client_credentials'], secret, auth },
      ]);
    }
  });

  it('X-14 leaves no secret and no token in the log, whose every line is an object', async () => {
    const token = textOf(await api.form(asked), 'access_token');
    await api.form(asked, basic('plain', 'canary-wrong-secret'));
    await sendJson(api.tokenUrl, { ...asked, client_id: 'plain', client_secret: ['canary-array'] });
    await send(api.tokenUrl, 'application/json', '{"client_secret":"canary-broken', basic('plain', secret));
    const log = api.logLines.join('\n');
    for (const canary of [token, secret, 'canary', btoa(`plain:${secret}`)]) expect(log).not.to.contain(canary);
    for (const line of api.logLines) expect(() => void JSON.parse(line)).not.to.throw();
  });
});
