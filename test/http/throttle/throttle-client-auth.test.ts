import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { firstRefreshToken, refreshTokenText } from '../../../api/credentials/refresh-token-text.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { expectClean } from '../hygiene.ts';
import { sendRequest } from '../raw-http.ts';
import type { RawReply } from '../raw-http.ts';

const form = 'application/x-www-form-urlencoded';
const paths = ['/auth/token', '/auth/introspect', '/auth/revoke'];

const perClient = 4;
const perBox = 10;

describe('holding back who fails', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi({
      environment: {
        BOXGATE_FAILURES_PER_CLIENT: String(perClient),
        BOXGATE_FAILURES_PER_BOX: String(perBox),
        // Each test comes from an address of its own.
        BOXGATE_TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    for (const box of ['shop', 'other']) {
      await api.declare(box, [
        { kind: 'Client', id: 'a', grant_types: ['client_credentials'], secret: 'right' },
        { kind: 'Client', id: 'b', grant_types: ['client_credentials'], secret: 'right' },
        {
          kind: 'Client',
          id: 'c',
          grant_types: ['client_credentials'],
          secret: 'right',
          auth: { client_credentials: { refresh_token: true } },
        },
        { kind: 'Client', id: 'd', grant_types: ['password'], secret: 'right' },
      ]);
    }
  });
  after(() => api.stop());

  let address = 0;
  beforeEach(() => {
    address += 1;
  });

  async function ask(credentials: string, path = '/auth/token', box = 'shop', from = address): Promise<RawReply> {
    const reply = await sendRequest(api.url, {
      method: 'POST',
      target: `/boxes/${box}${path}`,
      body: 'grant_type=client_credentials&token=x',
      headers: [
        ['Content-Type', form],
        ['Authorization', `Basic ${btoa(credentials)}`],
        ['X-Forwarded-For', `10.0.0.${String(from)}`],
      ],
    });
    expectClean(reply, credentials);
    return reply;
  }

  async function fail(times: number, credentials: string): Promise<void> {
    for (let time = 0; time < times; time += 1) expect((await ask(credentials)).status).to.equal(401);
  }

  it('X-16 answers 429 with Retry-After, also to the right secret, once a client failed too often', async () => {
    await fail(perClient, 'a:wrong');
    for (const credentials of ['a:wrong', 'a:right']) {
      const { status, headers, text } = await ask(credentials);
      expect(status).to.equal(429);
      expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
      expect(text).to.match(/^\{"error":"slow_down","error_description":"Too many failed attempts from this address; /);
    }
  });

  it('X-16 leaves alone other clients at that address, that client elsewhere, and the other box', async () => {
    await fail(perClient, 'a:wrong');
    expect((await ask('b:right')).status).to.equal(200);
    expect((await ask('a:right', '/auth/token', 'shop', 200)).status).to.equal(200);
    expect((await ask('a:right', '/auth/token', 'other')).status).to.equal(200);
  });

  for (const path of paths) {
    it(`X-16 counts one limit over every path that checks the secret: ${path}`, async () => {
      for (let time = 0; time < perClient; time += 1) await ask('a:wrong', paths[time % paths.length]);
      expect((await ask('a:right', path)).status).to.equal(429);
    });
  }

  it('X-16 holds back an address that tries many clients', async () => {
    for (let client = 0; client < perBox; client += 1) await fail(1, `client-${String(client)}:wrong`);
    expect((await ask('b:right')).status).to.equal(429);
    expect((await ask('b:right', '/auth/token', 'other')).status).to.equal(200);
  });

  it('X-16 takes the ways to write one client for one', async () => {
    for (const id of ['a', '%61', '%61', 'a']) await fail(1, `${id}:wrong`);
    for (const id of ['a', '%61']) expect((await ask(`${id}:right`)).status).to.equal(429);
  });

  const noGuesses: Readonly<Record<string, string>> = {
    'no secret': 'a:',
    'no colon': 'a',
    'no client': ':right',
    'what is no text': 'a\0:right',
  };
  for (const [what, credentials] of Object.entries(noGuesses)) {
    it(`X-16 does not count ${what}: a broken caller locks nobody out`, async () => {
      await fail(perBox + 1, credentials);
      expect((await ask('a:right')).status).to.equal(200);
    });
  }

  it('X-16 does not count what is wrong with a request otherwise', async () => {
    for (let time = 0; time <= perBox; time += 1) {
      const reply = await sendRequest(api.url, {
        method: 'POST',
        target: '/boxes/shop/auth/token',
        body: 'grant_type=password',
        headers: [
          ['Content-Type', form],
          ['Authorization', `Basic ${btoa('a:right')}`],
          ['X-Forwarded-For', `10.0.0.${String(address)}`],
        ],
      });
      expect(reply.status).to.equal(400);
    }
    expect((await ask('a:right')).status).to.equal(200);
  });

  it('X-16 gives many at once no more guesses than one after the other, on no path', async () => {
    const guesses = Array.from({ length: 60 }, (_, nth) => ask(`a:wrong ${String(nth)}`, paths[nth % paths.length]));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    const tried = statuses.filter((status) => status === 401).length;
    expect(tried).to.be.within(1, perClient);
    expect(statuses.every((status) => [401, 429, 503].includes(status))).to.equal(true);
    expect(await untilTried(tried), 'the rest of the window').to.equal(perClient - tried);
  });

  /** Guesses until the address is throttled. Returns how many further guesses were accepted. */
  async function untilTried(tried: number): Promise<number> {
    for (let more = 0; ; more += 1) {
      if ((await ask(`a:wrong again ${String(tried + more)}`)).status === 429) return more;
    }
  }

  it('T-12 X-16 lets the right secret through that comes for the first time, while a stranger guesses at its client', async () => {
    const busy = await startApi({ environment: { BOXGATE_TRUSTED_PROXIES: '127.0.0.1', BOXGATE_HASH_THREADS: '1' } });
    try {
      await busy.declare('shop', [{ kind: 'Client', id: 'a', grant_types: ['client_credentials'], secret: 'right' }]);
      const post = (secret: string, from: string) =>
        sendRequest(busy.url, {
          method: 'POST',
          target: '/boxes/shop/auth/token',
          body: 'grant_type=client_credentials',
          headers: [
            ['Content-Type', form],
            ['Authorization', `Basic ${btoa(`a:${secret}`)}`],
            ['X-Forwarded-For', from],
          ],
        });
      const guesses = Array.from({ length: 19 }, (_, nth) => post(`wrong ${String(nth)}`, '10.1.1.1'));
      await Promise.race(guesses);
      expect((await post('right', '10.2.2.2')).status).to.equal(200);
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.every((status) => [401, 429, 503].includes(status))).to.equal(true);
    } finally {
      await busy.stop();
    }
  });

  it('X-16 tells who is held back by guesses under way to try again soon', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, (_, nth) => ask(`a:wrong ${String(nth)}`)));
    const first = replies.find(({ status }) => status === 429);
    expect(Number(first?.headers.get('retry-after'))).to.be.within(1, 60);
  });

  it('X-16 holds nobody back who sends the right secret many times at once', async () => {
    const replies = await Promise.all(Array.from({ length: 40 }, () => ask('c:right')));
    expect(replies.map(({ status }) => status)).to.deep.equal(Array(40).fill(200));
  });

  describe('X-16 with forged refresh tokens', () => {
    const forged = () => refreshTokenText(firstRefreshToken(randomUUID().replaceAll('-', '')));

    function refresh(token: string, client = 'c'): Promise<RawReply> {
      return post({ grant_type: 'refresh_token', client_id: client, refresh_token: token });
    }

    function post(parameters: Readonly<Record<string, string>>): Promise<RawReply> {
      return sendRequest(api.url, {
        method: 'POST',
        target: '/boxes/shop/auth/token',
        body: new URLSearchParams(parameters).toString(),
        headers: [
          ['Content-Type', form],
          ['X-Forwarded-For', `10.0.0.${String(address)}`],
        ],
      });
    }

    async function genuine(): Promise<string> {
      const answer: unknown = JSON.parse((await ask('c:right')).text);
      if (typeof answer !== 'object' || answer === null || !('refresh_token' in answer)) throw new Error('no token');
      return String(answer.refresh_token);
    }

    it('answers 429 to a client at an address after as many as are allowed', async () => {
      for (let time = 0; time < perClient; time += 1) expect((await refresh(forged())).status).to.equal(400);
      const { status, headers } = await refresh(forged());
      expect(status).to.equal(429);
      expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
    });

    it('does not count the passwords that the users of one app mistype', async () => {
      const app = { client_id: 'd', client_secret: 'right' };
      for (let nth = 0; nth <= perClient; nth += 1) {
        const mistyped = { grant_type: 'password', username: `user${String(nth)}@shop.example`, password: 'wrong' };
        expect((await post({ ...app, ...mistyped })).status, `user ${String(nth)}`).to.equal(400);
      }
      const ended = await post({ ...app, grant_type: 'refresh_token', refresh_token: forged() });
      expect(ended.text).to.contain('"error":"invalid_grant"');
    });

    it('answers 429 to an address that forges for many clients', async () => {
      for (let nth = 0; nth < perBox; nth += 1) {
        expect((await refresh(forged(), `client-${String(nth)}`)).status).to.equal(400);
      }
      expect((await refresh(forged(), 'one-more')).status).to.equal(429);
    });

    it('serves who has a genuine one, and who knows a secret, at the same address', async () => {
      const token = await genuine();
      for (let time = 0; time <= perBox; time += 1) await refresh(forged());
      expect((await refresh(forged())).status).to.equal(429);
      expect((await refresh(token)).status).to.equal(200);
      for (const credentials of ['a:right', 'c:right']) expect((await ask(credentials)).status).to.equal(200);
    });
  });
});
