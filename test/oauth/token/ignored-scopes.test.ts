import { expect } from 'chai';
import { answered, authorizePath, codeRequest, secret, startOpenIdApi } from '../openid/openid-api.ts';
import { ann } from '../openid/openid-api.ts';
import type { OpenIdApi } from '../openid/openid-api.ts';
import { basic, sendForm, textOf } from '../requests.ts';
import type { Fields, Reply } from '../requests.ts';

/** Outcome of a request for a scope: the error, or the granted scope and the member `scope` of the response. */
interface Outcome {
  readonly error?: unknown;
  readonly granted?: unknown;
  readonly told?: unknown;
}

/** Rows for a client that may request `openid` and `read`. Another one lists `write`; the Box declares `declared`. */
const rows: readonly [asked: string, ignoring: Outcome, rejecting: Outcome][] = [
  ['openid', { granted: 'openid' }, { granted: 'openid' }],
  ['read unknown openid', { granted: 'read openid', told: 'read openid' }, { error: 'invalid_scope' }],
  ['unknown', { granted: undefined, told: '' }, { error: 'invalid_scope' }],
  ['openid write', { granted: 'openid', told: 'openid' }, { error: 'invalid_scope' }],
  ['write', { granted: undefined, told: '' }, { error: 'invalid_scope' }],
  ['openid declared', { error: 'invalid_scope' }, { error: 'invalid_scope' }],
  ['openid groups', { error: 'invalid_scope' }, { error: 'invalid_scope' }],
  ['unknown boxgate', { error: 'invalid_scope' }, { error: 'invalid_scope' }],
];

for (const rejects of [false, true]) {
  describe(`a scope that the box does not know, ${rejects ? 'with reject_unknown_scope' : 'by default'}`, () => {
    let api: OpenIdApi;
    let url: string;

    before(async () => {
      const box = { tokens: { reject_unknown_scope: rejects }, scopes: { declared: { en: 'do what is declared' } } };
      api = await startOpenIdApi(box);
      url = `${api.url}/boxes/default/auth`;
      const settings = { redirect_uri: 'https://app.example/back', refresh_token: true };
      const auth = { authorization_code: settings, implicit: { redirect_uri: settings.redirect_uri } };
      const grant_types = ['client_credentials', 'authorization_code', 'implicit', 'password'];
      const client = { kind: 'Client', grant_types, auth, secret, first_party: true } as const;
      await api.declare('default', [
        {
          ...client,
          id: 'app',
          scope: ['openid', 'read'],
          auth: { ...auth, client_credentials: { refresh_token: true } },
        },
        { ...client, id: 'other', scope: ['write', 'boxgate'] },
      ]);
    });
    after(() => api.stop());

    const atToken = (fields: Fields): Promise<Reply> => sendForm(`${url}/token`, fields, basic('app', secret));

    async function introspected(token: string): Promise<unknown> {
      return (await sendForm(`${url}/introspect`, { token }, basic('app', secret))).body['scope'];
    }

    async function outcomeOf(reply: Reply): Promise<Outcome> {
      if (reply.status !== 200) return { error: textOf(reply, 'error') };
      return outcomeOfToken(textOf(reply, 'access_token'), reply.body['scope']);
    }

    async function outcomeOfToken(token: string, told: unknown): Promise<Outcome> {
      return { granted: await introspected(token), ...(told === undefined ? {} : { told }) };
    }

    async function ofCode(scope: string): Promise<Outcome> {
      const browser = await api.signedIn();
      const answer = await browser.get(authorizePath({ ...codeRequest, client_id: 'app', scope }));
      const { error } = answered(answer);
      return error === undefined ? outcomeOf(await api.redeem(answer, {}, basic('app', secret))) : { error };
    }

    async function ofImplicit(scope: string): Promise<Outcome> {
      const browser = await api.signedIn();
      const { redirect_uri } = codeRequest;
      const answer = await browser.get(
        authorizePath({ response_type: 'token', client_id: 'app', redirect_uri, scope }),
      );
      const { error, access_token = '', scope: told } = answered(answer);
      return error === undefined ? outcomeOfToken(access_token, told) : { error };
    }

    async function ofRefresh(scope: string): Promise<Outcome> {
      const first = await atToken({ grant_type: 'client_credentials', scope: 'openid read' });
      const refresh_token = textOf(first, 'refresh_token');
      return outcomeOf(await atToken({ grant_type: 'refresh_token', refresh_token, scope }));
    }

    const grants: Readonly<Record<string, (scope: string) => Promise<Outcome>>> = {
      client_credentials: async (scope) => outcomeOf(await atToken({ grant_type: 'client_credentials', scope })),
      password: async (scope) =>
        outcomeOf(await atToken({ grant_type: 'password', username: ann.email, password: ann.password, scope })),
      authorization_code: ofCode,
      implicit: ofImplicit,
      refresh_token: ofRefresh,
    };
    for (const [name, outcome] of Object.entries(grants)) {
      for (const [asked, ignoring, rejecting] of rows) {
        const expected = rejects ? rejecting : ignoring;
        it(`${name}: "${asked}" comes to ${JSON.stringify(expected)}`, async () => {
          // E-33: the scope was told only where it differs; that is still so in the address of the implicit grant.
          const { granted } = expected;
          const told = name === 'implicit' || granted === undefined ? {} : { told: granted };
          const full = expected.error === undefined ? { granted: undefined, ...told, ...expected } : expected;
          expect(await outcome(asked)).to.deep.equal(full);
        });
      }
    }

    it('leaves a request without a scope as it is', async () => {
      const reply = await atToken({ grant_type: 'client_credentials' });
      expect(reply.body).to.have.keys('token_type', 'access_token', 'refresh_token');
    });

    it('never leads to the default scope boxgate', async () => {
      const browser = await api.signedIn();
      const answer = await browser.get(authorizePath({ ...codeRequest, scope: 'unknown' }));
      const { error, code } = answered(answer);
      if (rejects) expect(error).to.equal('invalid_scope');
      else {
        const { body } = await api.redeem(String(code));
        expect(body['scope']).to.equal('');
        expect(await introspected(String(body['access_token']))).to.equal(undefined);
      }
    });
  });
}
