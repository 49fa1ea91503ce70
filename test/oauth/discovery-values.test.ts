import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { hiddenFields } from '../http/pages/browser.ts';
import type { Answer } from '../http/pages/browser.ts';
import { discoverBox, goodbye, ordersScope } from './discover-box.ts';
import { parametersOf, person } from './discovered-box.ts';
import type { Authentication, DiscoveredBox } from './discovered-box.ts';
import { claimsOf, headerOf, textOf } from './requests.ts';
import type { Fields } from './requests.ts';

/** Documents of metadata: OpenID Connect Discovery §4, RFC 8414 §3. */
const documents = ['openid-configuration', 'oauth-authorization-server'];

/** A use of a member of the metadata, in requests that take every value from there. */
type Use = (box: DiscoveredBox, member: string) => Promise<unknown>;

/** A use of one value of a member that is a list. */
type UseValue = (box: DiscoveredBox, value: string) => Promise<unknown>;

/** Uses each value of a list in the same way. */
const each =
  (use: UseValue): Use =>
  async (box, member) => {
    const values = box.values(member);
    expect(values, member).not.to.be.empty;
    for (const value of values) await use(box, value);
  };

/** Uses each value of a list in its own way: a value without one fails. */
const eachOf = (uses: Readonly<Record<string, (box: DiscoveredBox) => Promise<unknown>>>): Use =>
  each(async (box, value) => {
    const use = Object.hasOwn(uses, value) ? uses[value] : undefined;
    if (use === undefined) throw new Error(`no request of this test uses the value ${value}: add one to uses`);
    await use(box);
  });

/** The client that authenticates by a method. */
const clientOf = (method: string): string => ({ none: 'public', private_key_jwt: 'keys' })[method] ?? 'machine';
const authenticationBy = (method: string, alg?: string): Authentication => [method, clientOf(method), alg];

async function codeTokens(box: DiscoveredBox, parameters: Fields = {}, authentication?: Authentication) {
  const answer = await box.authorize(parameters);
  const reply = await box.redeem(
    answer,
    {},
    authentication ?? ['client_secret_basic', parameters['client_id'] ?? 'app'],
  );
  expect(reply.status, reply.text + answer.location).to.equal(200);
  return reply;
}

/** An access token of a client that authenticates by a method. */
async function tokenBy(box: DiscoveredBox, [method, client, alg]: Authentication): Promise<string> {
  if (method === 'none') {
    return textOf(await codeTokens(box, { client_id: client }, [method, client]), 'access_token');
  }
  const reply = await box.send('token_endpoint', { grant_type: 'client_credentials' }, [method, client, alg]);
  expect(reply.status, reply.text).to.equal(200);
  return textOf(reply, 'access_token');
}

async function isActive(box: DiscoveredBox, token: string, by = authenticationBy('client_secret_basic')) {
  const reply = await box.send('introspection_endpoint', { token }, by);
  expect(reply.status, reply.text).to.equal(200);
  return reply.body['active'];
}

async function introspects(box: DiscoveredBox, by: Authentication): Promise<void> {
  expect(await isActive(box, await tokenBy(box, by), by)).to.equal(true);
}

async function revokes(box: DiscoveredBox, by: Authentication): Promise<void> {
  const token = await tokenBy(box, by);
  const reply = await box.send('revocation_endpoint', { token }, by);
  expect(reply.status, reply.text).to.equal(200);
  expect(await isActive(box, token)).to.equal(false);
}

function verified(box: DiscoveredBox, idToken: string, audience: string) {
  const keys = createRemoteJWKSet(new URL(box.address('jwks_uri')));
  return jwtVerify(idToken, keys, { issuer: box.text('issuer'), audience, typ: 'JWT' });
}

/** Uses a parameter that is not supported: the error in the redirect. */
const refusedFor =
  (name: string, error: string): Use =>
  async (box, member) => {
    expect(box.metadata[member]).to.equal(false);
    expect(parametersOf(await box.authorize({ [name]: 'x' })).get('error')).to.equal(error);
  };

async function answersWith(box: DiscoveredBox, response_type: string, names: readonly string[]): Promise<void> {
  const answer = parametersOf(await box.authorize({ response_type, nonce: 'n' }));
  expect([...answer.keys()]).to.include.members(names);
}

const pageOf = ({ location }: Answer): string => new URL(location).pathname.split('/').at(-1) ?? '';

/** The use of each member. One that is not listed here fails the first test. */
const uses: Readonly<Record<string, Use>> = {
  issuer: async (box, member) => {
    const { id_token } = (await codeTokens(box)).body;
    expect(claimsOf(String(id_token))['iss']).to.equal(box.text(member));
    for (const document of documents) {
      const response = await fetch(`${box.address(member)}/.well-known/${document}`);
      expect(await response.json(), document).to.deep.equal(box.metadata);
    }
  },
  authorization_endpoint: async (box) => {
    expect(parametersOf(await box.authorize()).get('code')).to.match(/^bgc_/);
  },
  token_endpoint: (box) => codeTokens(box),
  token_endpoint_auth_methods_supported: each((box, method) => tokenBy(box, authenticationBy(method))),
  token_endpoint_auth_signing_alg_values_supported: each((box, alg) =>
    tokenBy(box, authenticationBy('private_key_jwt', alg)),
  ),
  userinfo_endpoint: async (box, member) => {
    const { access_token, id_token } = (await codeTokens(box)).body;
    const reply = await box.get(member, { Authorization: `Bearer ${String(access_token)}` });
    expect(reply.body['sub']).to.equal(claimsOf(String(id_token))['sub']);
  },
  end_session_endpoint: async (box, member) => {
    const browser = await box.signedIn();
    const { id_token } = (await box.redeem(await box.authorize({}, browser))).body;
    const query = new URLSearchParams({ id_token_hint: String(id_token), post_logout_redirect_uri: goodbye });
    expect((await browser.get(`${box.text(member)}?${query.toString()}`)).location).to.equal(goodbye);
    expect(parametersOf(await box.authorize({ prompt: 'none' }, browser)).get('error')).to.equal('login_required');
  },
  jwks_uri: async (box) => {
    const { protectedHeader } = await verified(box, textOf(await codeTokens(box), 'id_token'), 'app');
    expect(protectedHeader.kid).to.be.a('string');
  },
  subject_types_supported: eachOf({
    public: async (box) => {
      const clients = ['app', 'signed-ES256'];
      const tokens = await Promise.all(clients.map((client_id) => codeTokens(box, { client_id })));
      const [one, other] = tokens.map((reply) => claimsOf(textOf(reply, 'id_token'))['sub']);
      expect(one).to.be.a('string').and.to.equal(other);
    },
  }),
  id_token_signing_alg_values_supported: each(async (box, alg) => {
    const client_id = `signed-${alg}`;
    const idToken = textOf(await codeTokens(box, { client_id }), 'id_token');
    expect(headerOf(idToken)['alg']).to.equal(alg);
    await verified(box, idToken, client_id);
  }),
  introspection_endpoint: (box) => introspects(box, authenticationBy('client_secret_basic')),
  introspection_endpoint_auth_methods_supported: each((box, method) => introspects(box, authenticationBy(method))),
  introspection_endpoint_auth_signing_alg_values_supported: each((box, alg) =>
    introspects(box, authenticationBy('private_key_jwt', alg)),
  ),
  revocation_endpoint: (box) => revokes(box, authenticationBy('client_secret_basic')),
  revocation_endpoint_auth_methods_supported: each((box, method) => revokes(box, authenticationBy(method))),
  revocation_endpoint_auth_signing_alg_values_supported: each((box, alg) =>
    revokes(box, authenticationBy('private_key_jwt', alg)),
  ),
  grant_types_supported: eachOf({
    client_credentials: (box) => tokenBy(box, authenticationBy('client_secret_basic')),
    authorization_code: (box) => codeTokens(box),
    implicit: (box) => answersWith(box, 'token', ['access_token']),
    refresh_token: async (box) => {
      const refresh_token = textOf(await codeTokens(box), 'refresh_token');
      const by: Authentication = ['client_secret_basic', 'app'];
      const reply = await box.send('token_endpoint', { grant_type: 'refresh_token', refresh_token }, by);
      expect(reply.status, reply.text).to.equal(200);
    },
    password: async (box) => {
      const fields = { grant_type: 'password', username: person.email, password: person.password };
      const reply = await box.send('token_endpoint', fields, ['client_secret_basic', 'passwords']);
      expect(reply.status, reply.text).to.equal(200);
    },
  }),
  response_types_supported: each(async (box, type) => {
    const names = { code: 'code', token: 'access_token', id_token: 'id_token' };
    const expected = type.split(' ').map((word) => new Map(Object.entries(names)).get(word) ?? `unknown ${word}`);
    await answersWith(box, type, expected);
  }),
  response_modes_supported: eachOf({
    query: async (box) => {
      expect((await box.authorize({ response_mode: 'query' })).location).to.contain('/back?code=');
    },
    fragment: async (box) => {
      expect((await box.authorize({ response_mode: 'fragment' })).location).to.contain('/back#code=');
    },
    form_post: async (box) => {
      const { text } = await box.authorize({ response_mode: 'form_post' });
      expect(hiddenFields(text)['code']).to.match(/^bgc_/);
    },
  }),
  prompt_values_supported: eachOf({
    none: async (box) => {
      expect(parametersOf(await box.authorize({ prompt: 'none' })).has('code')).to.equal(true);
    },
    login: async (box) => {
      expect(pageOf(await box.authorize({ prompt: 'login' }))).to.equal('signin');
    },
    consent: async (box) => {
      expect(pageOf(await box.authorize({ prompt: 'consent', client_id: 'foreign' }))).to.equal('consent');
    },
    select_account: async (box) => {
      expect(pageOf(await box.authorize({ prompt: 'select_account' }))).to.equal('signin');
    },
  }),
  code_challenge_methods_supported: each(async (box, code_challenge_method) => {
    await codeTokens(box, { code_challenge_method });
    const wrong = await box.redeem(await box.authorize({ code_challenge_method }), { code_verifier: 'x'.repeat(43) });
    expect(wrong.body['error']).to.equal('invalid_grant');
  }),
  scopes_supported: each(async (box, scope) => {
    const client_id = scope === ordersScope ? 'orders' : 'app';
    const token = textOf(await codeTokens(box, { scope, client_id }), 'access_token');
    const reply = await box.send('introspection_endpoint', { token }, authenticationBy('client_secret_basic'));
    expect(reply.body['scope']).to.equal(scope);
  }),
  claims_supported: async (box, member) => {
    const scopes = box.values('scopes_supported').filter((one) => one !== ordersScope);
    const scope = scopes.join(' ');
    const { access_token, id_token } = (await codeTokens(box, { scope, nonce: 'n' })).body;
    const { body } = await box.get('userinfo_endpoint', { Authorization: `Bearer ${String(access_token)}` });
    const found = [...Object.keys(claimsOf(String(id_token))), ...Object.keys(body)];
    expect([...new Set(found)]).to.have.members([...box.values(member)]);
  },
  claims_parameter_supported: async (box, member) => {
    expect(box.metadata[member]).to.equal(true);
    const claims = JSON.stringify({ id_token: { email: { essential: true } } });
    const idToken = textOf(await codeTokens(box, { claims }), 'id_token');
    expect(claimsOf(idToken)).to.have.property('email');
  },
  request_parameter_supported: refusedFor('request', 'request_not_supported'),
  request_uri_parameter_supported: refusedFor('request_uri', 'request_uri_not_supported'),
  authorization_response_iss_parameter_supported: async (box, member) => {
    expect(box.metadata[member]).to.equal(true);
    for (const parameters of [{}, { scope: '"' }]) {
      expect(parametersOf(await box.authorize(parameters)).get('iss')).to.equal(box.text('issuer'));
    }
  },
};

for (const document of documents) {
  describe(`the values in ${document}`, () => {
    let box: DiscoveredBox;

    before(async () => {
      box = await discoverBox(document);
    });
    after(() => box.api.stop());

    it('are all of members that this test uses', () => {
      expect(Object.keys(box.metadata)).to.have.members(Object.keys(uses));
    });

    for (const [member, use] of Object.entries(uses)) {
      it(`work in a request: ${member}`, async () => {
        await use(box, member);
      });
    }
  });
}
