import { expect } from 'chai';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { basic, claimsOf, sendForm, textOf } from '../../oauth/requests.ts';
import type { Fields, Reply } from '../../oauth/requests.ts';
import type { DeclaredResource } from '../../support/api.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { startBoxApi } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';
import { addUser, hiddenFields, issuerOf, newBrowser } from './browser.ts';
import type { Answer, Browser } from './browser.ts';

const person = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const back = 'https://app.example/back';
const [files, mail] = ['https://files.example', 'https://mail.example'];
const secret = generateClientSecret();
const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
const grant_types = ['authorization_code'];

function client(id: string, settings: object = {}, more: object = {}): DeclaredResource {
  const auth = { authorization_code: { redirect_uri: back, token_format: 'jwt', refresh_token: true, ...settings } };
  return { kind: 'Client', id, grant_types, auth, scope: ['read', 'openid', 'boxgate'], ...more };
}

describe('a consent and what it is for', () => {
  let api: BoxApi;
  let browser: Browser;
  let user = 0;

  before(async () => {
    api = await startBoxApi();
    await api.declare('default', [
      client('plain'),
      client('listing', { audience: [files, mail] }),
      client('moving'),
      client('growing'),
      client('loopback', { redirect_uri: 'http://127.0.0.1/back' }),
      client('loopback-six', { redirect_uri: 'http://[::1]/back' }),
      client('localhost', { redirect_uri: 'http://localhost:4000/back' }),
      client('device', { redirect_uri: 'com.example.app:/back' }),
      client('loopback-secret', { redirect_uri: 'http://127.0.0.1/back' }, { secret }),
      client('loopback-optional', { redirect_uri: 'http://127.0.0.1/back', secret_required: false }, { secret }),
      {
        kind: 'Client',
        id: 'loopback-implicit',
        grant_types: ['implicit'],
        secret,
        auth: { implicit: { redirect_uri: 'http://127.0.0.1/back' } },
        scope: ['read'],
      },
    ]);
    user = await addUser(api, person.email, person.password);
  });
  after(() => api.stop());
  beforeEach(async () => {
    browser = newBrowser(api);
    await browser.submit('/auth/signin', person);
  });

  const ask = (wish: Record<string, string>): Promise<Answer> => {
    const usual = wish['response_type'] === undefined ? { response_type: 'code', ...challenge } : {};
    return browser.get(`/auth/authorize?${new URLSearchParams({ ...usual, scope: 'read', ...wish }).toString()}`);
  };
  const isQuestion = ({ location }: Answer): boolean => location.includes('/auth/consent?id=');
  const partsOf = ({ location }: Answer): URLSearchParams => new URLSearchParams(location.split(/[?#]/)[1]);

  async function allow(wish: Record<string, string>): Promise<Answer> {
    const asked = await ask({ prompt: 'consent', ...wish });
    expect(isQuestion(asked), asked.location).to.equal(true);
    return browser.submit(asked.location, { answer: 'allow' });
  }

  function redeem(client_id: string, answer: Answer, more: Fields = {}): Promise<Reply> {
    const code = partsOf(answer).get('code') ?? '';
    const fields = { grant_type: 'authorization_code', client_id, code, code_verifier, ...more };
    return sendForm(`${api.base}/auth/token`, fields);
  }

  describe('an audience', () => {
    for (const name of ['audience', 'resource']) {
      it(`R-07 that no client lists is refused, also with a remembered consent: ${name}`, async () => {
        expect(partsOf(await allow({ client_id: 'plain' })).has('code')).to.equal(true);
        expect(partsOf(await ask({ client_id: 'plain', [name]: files })).get('error')).to.equal('invalid_target');
        expect(partsOf(await ask({ client_id: 'listing', [name]: 'https://x.example' })).get('error')).to.equal(
          'invalid_target',
        );
      });
    }

    it('R-07 that no client lists is refused for a password, too', async () => {
      await api.declare('default', [{ kind: 'Client', id: 'legacy', grant_types: ['password'], secret }]);
      const fields = { grant_type: 'password', username: person.email, password: person.password, audience: files };
      const reply = await sendForm(`${api.base}/auth/token`, fields, basic('legacy', secret));
      expect(reply.body['error']).to.equal('invalid_target');
    });

    it('R-07 is the issuer unless the client lists others, then the first of those', async () => {
      const audienceOf = async (id: string, wish: Record<string, string> = {}): Promise<unknown> => {
        const reply = await redeem(id, await allow({ client_id: id, ...wish }));
        return claimsOf(textOf(reply, 'access_token'))['aud'];
      };
      expect(await audienceOf('plain')).to.equal(issuerOf('default'));
      expect(await audienceOf('plain', { resource: issuerOf('default') })).to.equal(issuerOf('default'));
      expect(await audienceOf('listing')).to.equal(files);
      expect(await audienceOf('listing', { audience: mail })).to.equal(mail);
    });

    it('R-07 is shown on the page, and asked about once each', async () => {
      await api.call('DELETE', `/Grant/${String(user)}.listing`);
      const first = await ask({ client_id: 'listing', audience: files });
      expect((await browser.get(first.location)).text).to.contain(`<dd>${files}</dd>`);
      await browser.submit(first.location, { answer: 'allow' });
      const second = await ask({ client_id: 'listing', audience: mail });
      expect(isQuestion(second)).to.equal(true);
      expect((await browser.get(second.location)).text).to.contain(`<dd>${mail}</dd>`);
      await browser.submit(second.location, { answer: 'allow' });
      for (const audience of [files, mail]) {
        expect(partsOf(await ask({ client_id: 'listing', audience })).has('code'), audience).to.equal(true);
      }
      const { body } = await api.call('GET', `/Grant/${String(user)}.listing?_elements=scope,consents`);
      expect(body).to.deep.include({
        scope: 'read',
        consents: [
          { redirect_uri: back, audience: files, scope: 'read' },
          { redirect_uri: back, audience: mail, scope: 'read' },
        ],
      });
    });

    it('R-07 for which a scope was allowed does not allow it for another', async () => {
      await api.call('DELETE', `/Grant/${String(user)}.listing`);
      await allow({ client_id: 'listing', audience: files, scope: 'read' });
      await allow({ client_id: 'listing', audience: mail, scope: 'openid' });
      expect(isQuestion(await ask({ client_id: 'listing', audience: mail, scope: 'read' }))).to.equal(true);
      expect(isQuestion(await ask({ client_id: 'listing', audience: files, scope: 'openid' }))).to.equal(true);
      expect(isQuestion(await ask({ client_id: 'listing', audience: mail, scope: 'openid' }))).to.equal(false);
    });

    it('R-07 that the client lists only after the code was given, or the token, is in neither', async () => {
      const [wish, redirect_uri] = [{ client_id: 'growing', redirect_uri: back }, back];
      const answer = await allow(wish);
      const tokens = await redeem('growing', await allow(wish), { redirect_uri });
      expect(tokens.body).to.include.keys('access_token', 'refresh_token');
      await api.declare('default', [client('growing', { audience: [files] })]);
      expect((await redeem('growing', answer, { redirect_uri })).body['error']).to.equal('invalid_target');
      const refresh = { grant_type: 'refresh_token', client_id: 'growing' };
      const refreshed = await sendForm(`${api.base}/auth/token`, {
        ...refresh,
        refresh_token: textOf(tokens, 'refresh_token'),
      });
      expect(refreshed.body).not.to.have.property('access_token');
    });
  });

  it('R-B1 is for the redirect URI that it was given for, and no other', async () => {
    await allow({ client_id: 'moving' });
    expect(isQuestion(await ask({ client_id: 'moving' }))).to.equal(false);
    await api.declare('default', [client('moving', { redirect_uri: 'https://else.example/back' })]);
    expect(isQuestion(await ask({ client_id: 'moving' }))).to.equal(true);
    await api.declare('default', [client('moving')]);
    expect(isQuestion(await ask({ client_id: 'moving' }))).to.equal(false);
  });

  it('R-B1 that an older release stored is for no target: the user is asked again', async () => {
    await allow({ client_id: 'plain' });
    const { body } = await api.call('GET', `/Grant/${String(user)}.plain`);
    expect(body).to.deep.include({ scope: 'read' });
    await ownerQuery(api, 'DELETE FROM boxgate.consent_target WHERE client = $1', ['plain']);
    expect(isQuestion(await ask({ client_id: 'plain' }))).to.equal(true);
    expect((await api.call('GET', `/Grant/${String(user)}.plain`)).body).to.deep.include({
      scope: 'read',
      consents: [],
    });
  });

  const grown: Readonly<Record<string, [settings: object, more: object]>> = {
    'another default audience': [{ audience: [files] }, {}],
    'another redirect URI': [{ redirect_uri: 'https://else.example/back' }, {}],
    'another name': [{}, { name: 'Your Bank' }],
    'a default scope': [{}, { scope: ['boxgate'] }],
  };
  for (const [what, [settings, more]] of Object.entries(grown)) {
    it(`R-B1 covers what the page showed, not what the client has got since: ${what}`, async () => {
      await api.declare('default', [client('later', {}, { scope: ['read'] })]);
      const usual = new URLSearchParams({ response_type: 'code', client_id: 'later', prompt: 'consent', ...challenge });
      const asked = await browser.get(`/auth/authorize?${usual.toString()}`);
      const fields = { ...hiddenFields((await browser.get(asked.location)).text), answer: 'allow' };
      await api.declare('default', [client('later', settings, { scope: ['read'], ...more })]);
      const again = await browser.post('/auth/consent', fields);
      expect([again.status, isQuestion(again)]).to.deep.equal([303, true]);
      expect(partsOf(await browser.submit(again.location, { answer: 'allow' })).has('code')).to.equal(true);
    });
  }

  describe('for a scope of the box', () => {
    const sentences = (read: object) => ({ kind: 'Box', id: 'default', scopes: { read } }) as const;
    const english = { 'Accept-Language': 'en' };
    const german = { 'Accept-Language': 'de' };

    before(() => api.declare('default', [sentences({ en: 'see <i>orders</i>', de: 'Bestellungen sehen' })]));
    after(() => api.declare('default', [{ kind: 'Box', id: 'default' }]));

    it('A-12 shows its sentence in the language of the page, as text', async () => {
      const { location } = await ask({ client_id: 'plain', prompt: 'consent' });
      expect((await browser.get(location, english)).text).to.contain('<li>see &#60;i&#62;orders&#60;/i&#62;</li>');
      expect((await browser.get(location, german)).text).to.contain('<li>Bestellungen sehen</li>');
    });

    it('R-B1 covers the sentence that the page showed, not one that is there since', async () => {
      const { location } = await ask({ client_id: 'plain', prompt: 'consent' });
      const fields = { ...hiddenFields((await browser.get(location)).text), answer: 'allow' };
      await api.declare('default', [sentences({ en: 'delete your orders' })]);
      const again = await browser.post('/auth/consent', fields);
      expect([again.status, isQuestion(again)]).to.deep.equal([303, true]);
      expect((await browser.get(again.location, german)).text).to.contain('<li>delete your orders</li>');
      expect(partsOf(await browser.submit(again.location, { answer: 'allow' })).has('code')).to.equal(true);
    });
  });

  it('R-B1 covers the time that the page showed, not that of refreshes which are there since', async () => {
    await api.declare('default', [client('brief', { refresh_token: false })]);
    const { location } = await ask({ client_id: 'brief', prompt: 'consent' });
    const { text } = await browser.get(location);
    expect(text).not.to.contain('365 days');
    await api.declare('default', [client('brief')]);
    const again = await browser.post('/auth/consent', { ...hiddenFields(text), answer: 'allow' });
    expect([again.status, isQuestion(again)]).to.deep.equal([303, true]);
    expect((await browser.get(again.location)).text).to.contain('365 days');
  });

  for (const [redirect_uri, shown] of [
    ['https://999.1.1.1/back', 'https://999.1.1.1/back'],
    ['com.example.app://bank.example/back', 'com.example.app:'],
  ] as const) {
    it(`R-10 shows where ${redirect_uri} leads, and no host that it does not lead to`, async () => {
      await api.declare('default', [client('odd', { redirect_uri })]);
      const { location } = await ask({ client_id: 'odd', prompt: 'consent' });
      const { status, text } = await browser.get(location);
      expect(status).to.equal(200);
      expect(text).to.contain(`<dd>${shown}</dd>`);
    });
  }

  describe('is asked for every time where nothing proves who receives the answer', () => {
    const unproven: readonly [client: string, wish: Record<string, string>][] = [
      ['loopback', { redirect_uri: 'http://127.0.0.1:51004/back' }],
      ['loopback', {}],
      ['loopback-six', { redirect_uri: 'http://[::1]:51004/back' }],
      ['localhost', {}],
      ['device', {}],
      ['loopback-optional', {}],
      ['loopback-implicit', { response_type: 'token' }],
    ];
    for (const [client_id, wish] of unproven) {
      it(`R-10 ${client_id} ${JSON.stringify(wish)}`, async () => {
        const answer = await allow({ client_id, ...wish });
        expect([...partsOf(answer).keys()]).to.include.oneOf(['code', 'access_token']);
        expect(isQuestion(await ask({ client_id, ...wish }))).to.equal(true);
        const silent = await ask({ client_id, ...wish, prompt: 'none' });
        expect(partsOf(silent).get('error')).to.equal('consent_required');
      });
    }

    it('R-10 but not for a declared client that is first_party', async () => {
      const settings = { redirect_uri: 'http://127.0.0.1/back' };
      await api.declare('default', [client('own-loopback', settings, { first_party: true })]);
      const redirect_uri = 'http://127.0.0.1:4711/back';
      const answer = await ask({ client_id: 'own-loopback', redirect_uri, prompt: 'none' });
      expect([...partsOf(answer).keys()]).to.include('code');
    });

    for (const client_id of ['plain', 'loopback-secret']) {
      it(`R-10 but not where https or a secret does: ${client_id}`, async () => {
        await allow({ client_id });
        expect(partsOf(await ask({ client_id, prompt: 'none' })).has('code')).to.equal(true);
      });
    }
  });
});
