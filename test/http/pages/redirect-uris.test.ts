import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { sendForm } from '../../oauth/requests.ts';
import type { Fields, Reply } from '../../oauth/requests.ts';
import type { DeclaredResource } from '../../support/api.ts';
import { startBoxApi } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';
import { addUser, hiddenFields, newBrowser } from './browser.ts';
import type { Answer, Browser } from './browser.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const [one, two, three] = ['https://app.example/one', 'https://app.example/two', 'https://app.example/three'];
const loopback = 'http://127.0.0.1:3000/back';
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };

/** Names of `response_type`, with the grant that each is of. */
const types = { code: 'authorization_code', token: 'implicit', id_token: 'implicit' } as const;

interface Uris {
  readonly redirect_uri?: string;
  readonly redirect_uris?: readonly string[];
}

/** Returns a client with the URIs for both grants. The implicit one has its first outside of the list. */
function client(id: string, uris: Uris, more: object = {}): DeclaredResource {
  const [first, ...others] = uris.redirect_uris ?? [];
  const outside = { redirect_uri: first, ...(others.length > 0 && { redirect_uris: others }) };
  const auth = { authorization_code: uris, implicit: uris.redirect_uri === undefined ? outside : uris };
  return { kind: 'Client', id, grant_types: ['authorization_code', 'implicit'], auth, scope: ['openid'], ...more };
}

describe('a client with several redirect URIs', () => {
  let api: BoxApi;
  let browser: Browser;
  let user = 0;

  before(async () => {
    api = await startBoxApi();
    await api.declare('default', [
      client('list', { redirect_uris: [one, two] }, { first_party: true }),
      client('both', { redirect_uri: one, redirect_uris: [two, loopback] }, { first_party: true }),
      client('one-in-list', { redirect_uris: [one] }, { first_party: true }),
      client('same-twice', { redirect_uri: one, redirect_uris: [one] }, { first_party: true }),
      client('asking', { redirect_uri: one, redirect_uris: [two] }),
      client('devices', { redirect_uri: one, redirect_uris: [loopback, 'com.example.app:/back'] }),
    ]);
    user = await addUser(api, ann.email, ann.password);
  });
  after(() => api.stop());
  beforeEach(async () => {
    browser = newBrowser(api);
    await browser.submit('/auth/signin', ann);
  });

  const ask = (client_id: string, wish: Record<string, string>): Promise<Answer> => {
    const usual = { response_type: 'code', client_id, scope: 'openid', nonce: 'n', ...wish };
    const parameters = { ...usual, ...(usual.response_type === 'code' ? pkce : {}) };
    return browser.get(`/auth/authorize?${new URLSearchParams(parameters).toString()}`);
  };
  const isQuestion = ({ location }: Answer): boolean => location.includes('/auth/consent?id=');
  const codeIn = ({ location }: Answer): string => new URL(location).searchParams.get('code') ?? '';
  const redeem = (client_id: string, code: string, fields: Fields): Promise<Reply> =>
    sendForm(`${api.base}/auth/token`, {
      ...{ grant_type: 'authorization_code', client_id, code, code_verifier: verifier },
      ...fields,
    });

  for (const [response_type, grant] of Object.entries(types)) {
    const sign = response_type === 'code' ? '?' : '#';
    describe(`that asks for ${response_type}`, () => {
      const accepted: readonly [client: string, requested: string][] = [
        ['list', one],
        ['list', two],
        ['both', one],
        ['both', two],
        ['both', loopback],
        ['both', 'http://127.0.0.1:51004/back'],
        ['one-in-list', one],
      ];
      for (const [client_id, redirect_uri] of accepted) {
        it(`A-03 gets its answer at the one that it names: ${client_id}, ${redirect_uri}`, async () => {
          const { status, location } = await ask(client_id, { response_type, redirect_uri });
          expect(status).to.equal(302);
          expect(location.startsWith(`${redirect_uri}${sign}`), location).to.equal(true);
          expect(location).not.to.contain('error=');
        });
      }

      for (const client_id of ['one-in-list', 'same-twice']) {
        it(`A-03 gets its answer at the only one, without naming it: ${client_id}`, async () => {
          const { location } = await ask(client_id, { response_type });
          expect(location.startsWith(`${one}${sign}`), location).to.equal(true);
        });
      }

      const refused: readonly [client: string, wish: Record<string, string>][] = [
        ['list', {}],
        ['both', {}],
        ['list', { redirect_uri: three }],
        ['list', { redirect_uri: `${two}/` }],
        ['both', { redirect_uri: `${one} ${two}` }],
        ['both', { redirect_uri: 'http://localhost:3000/back' }],
        ['one-in-list', { redirect_uri: two }],
      ];
      for (const [client_id, wish] of refused) {
        it(`A-01 RFC 6749 section 3.1.2.3: gets a page: ${client_id} ${JSON.stringify(wish)}`, async () => {
          const { status, location } = await ask(client_id, { response_type, ...wish });
          expect([status, location]).to.deep.equal([400, '']);
        });
      }

      it('A-03 has a list of its own for each grant', async () => {
        const auth = {
          authorization_code: { redirect_uris: [one, three] },
          implicit: { redirect_uri: two, redirect_uris: [three] },
        };
        await api.declare('default', [client('apart', {}, { auth, first_party: true })]);
        const [own, other] = grant === 'implicit' ? [two, one] : [one, two];
        expect((await ask('apart', { response_type, redirect_uri: own })).status).to.equal(302);
        expect((await ask('apart', { response_type, redirect_uri: other })).status).to.equal(400);
      });
    });
  }

  it('posts a form to the one that it names', async () => {
    const { text } = await ask('list', { redirect_uri: two, response_mode: 'form_post' });
    expect(text).to.contain(`<form method="post" action="${two}"`);
    expect(hiddenFields(text)).to.include.keys('code');
  });

  describe('redeems a code', () => {
    const redemptions: readonly [requested: string, fields: Fields, error: string | undefined][] = [
      [two, { redirect_uri: two }, undefined],
      [two, { redirect_uri: one }, 'invalid_grant'],
      [two, {}, 'invalid_grant'],
      [loopback, { redirect_uri: loopback }, undefined],
      [loopback, { redirect_uri: 'http://127.0.0.1:3001/back' }, 'invalid_grant'],
    ];
    for (const [redirect_uri, fields, error] of redemptions) {
      it(`T-21 that was given for ${redirect_uri}, with ${JSON.stringify(fields)}: ${error ?? 'tokens'}`, async () => {
        const { body } = await redeem('both', codeIn(await ask('both', { redirect_uri })), fields);
        expect(body['error']).to.equal(error);
        expect('access_token' in body).to.equal(error === undefined);
      });
    }

    const unnamed: readonly [fields: Fields, error: string | undefined][] = [
      [{}, undefined],
      [{ redirect_uri: one }, undefined],
      [{ redirect_uri: two }, 'invalid_grant'],
    ];
    for (const [fields, error] of unnamed) {
      it(`T-21 whose request named none, with ${JSON.stringify(fields)}: ${error ?? 'tokens'}`, async () => {
        const { body } = await redeem('one-in-list', codeIn(await ask('one-in-list', {})), fields);
        expect(body['error']).to.equal(error);
      });
    }
  });

  describe('changes after a code was given', () => {
    const changes: readonly [what: string, after: object, named: string | undefined, error: string | undefined][] = [
      ['the list loses it', { redirect_uris: [one] }, two, 'invalid_grant'],
      ['it moves from the list to the single field', { redirect_uri: two }, two, undefined],
      ['the list loses another one', { redirect_uris: [two, three] }, two, undefined],
    ];
    for (const [what, after, named, error] of changes) {
      it(`R-18 ${what}: ${error ?? 'tokens'}`, async () => {
        await api.declare('default', [client('moving', { redirect_uris: [one, two] }, { first_party: true })]);
        const code = codeIn(await ask('moving', { redirect_uri: named ?? '' }));
        await api.declare('default', [client('moving', after, { first_party: true })]);
        const { body } = await redeem('moving', code, { redirect_uri: two });
        expect(body['error']).to.equal(error);
      });
    }

    it('R-18 a second one is added, and the request had named none: invalid_grant', async () => {
      await api.declare('default', [client('moving', { redirect_uris: [one] }, { first_party: true })]);
      const code = codeIn(await ask('moving', {}));
      await api.declare('default', [client('moving', { redirect_uris: [one, two] }, { first_party: true })]);
      expect((await redeem('moving', code, {})).body['error']).to.equal('invalid_grant');
    });
  });

  describe('asks for consent', () => {
    it('R-B1 for each of them', async () => {
      for (const redirect_uri of [one, two]) {
        const asked = await ask('asking', { redirect_uri });
        expect(isQuestion(asked), redirect_uri).to.equal(true);
        expect((await browser.submit(asked.location, { answer: 'allow' })).location).to.contain(
          `${redirect_uri}?code=`,
        );
        expect(isQuestion(await ask('asking', { redirect_uri })), redirect_uri).to.equal(false);
      }
      const { body } = await api.call('GET', `/Grant/${String(user)}.asking?_elements=consents`);
      expect(body).to.deep.include({
        consents: [one, two].map((redirect_uri) => ({ redirect_uri, audience: null, scope: 'openid' })),
      });
    });

    for (const answer of ['allow', 'deny']) {
      it(`A-01 and goes nowhere when its redirect URI is removed before the answer: ${answer}`, async () => {
        await api.declare('default', [client('leaving', { redirect_uris: [one, two] })]);
        const asked = await ask('leaving', { redirect_uri: two });
        const fields = { ...hiddenFields((await browser.get(asked.location)).text), answer };
        await api.declare('default', [client('leaving', { redirect_uris: [one] })]);
        const { status, location } = await browser.post('/auth/consent', fields);
        expect([status, location]).to.deep.equal([400, '']);
      });
    }

    for (const redirect_uri of [loopback, 'http://127.0.0.1:51004/back', 'com.example.app:/back']) {
      it(`R-10 every time where nothing proves who receives the answer: ${redirect_uri}`, async () => {
        const asked = await ask('devices', { redirect_uri });
        await browser.submit(asked.location, { answer: 'allow' });
        expect(isQuestion(await ask('devices', { redirect_uri }))).to.equal(true);
      });
    }

    it('R-10 but once where the one that is named is https', async () => {
      await browser.submit((await ask('devices', { redirect_uri: one })).location, { answer: 'allow' });
      expect(isQuestion(await ask('devices', { redirect_uri: one }))).to.equal(false);
    });
  });
});
