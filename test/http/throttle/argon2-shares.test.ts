import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { browserHash, formToken, newBrowserToken } from '../../../api/credentials/browser-token.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { addUser } from '../pages/browser.ts';

const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const boxes = Array.from({ length: 60 }, (_, nth) => `box-${String(nth)}`);
/** More than may wait for argon2. */
const atOnce = 70;
const stranger = '10.9.9.9';

describe('argon2 under a flood of passwords', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi({ environment: { BOXGATE_TRUSTED_PROXIES: '127.0.0.1', BOXGATE_HASH_THREADS: '1' } });
    await api.declare('default', [{ kind: 'Box', id: 'default', registration: { enabled: true } }]);
    for (const id of boxes) await api.declare(id, [{ kind: 'Box', id }]);
    await addUser(api, ann.email, ann.password);
    // A box is loaded by its first request, which is not what these tests are about.
    for (const box of boxes) await fetch(`${api.url}/boxes/${box}/auth/signin`);
  });
  after(() => api.stop());

  async function post(box: string, page: string, fields: Record<string, string>, from: string): Promise<number> {
    const token = newBrowserToken();
    const response = await fetch(`${api.url}/boxes/${box}/auth/${page}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Cookie: `boxgate-${box}=${token}`, 'X-Forwarded-For': from },
      body: new URLSearchParams({ form_token: formToken(browserHash(token)), ...fields }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** Posts without end; `answers` has the status of each answer. */
  function flood(send: (nth: number) => Promise<number>): { answers: number[]; stop: () => Promise<unknown> } {
    const answers: number[] = [];
    let isOver = false;
    let nth = 0;
    const sender = async (): Promise<void> => {
      while (!isOver) {
        const status = await send((nth += 1));
        answers.push(status);
        // Otherwise a stranger who is refused at once would be a flood of HTTP requests in the process of the test.
        if (status >= 400) await sleep(100);
      }
    };
    const senders = Promise.all(Array.from({ length: atOnce }, sender));
    return {
      answers,
      stop() {
        isOver = true;
        return senders;
      },
    };
  }

  const unknown = (nth: number) => ({ email: `nobody-${String(nth)}@shop.example`, password: 'wrong' });
  const guess = (nth: number) => post(boxes[nth % boxes.length] ?? '', 'signin', unknown(nth), stranger);

  it('R-03 signs people in at a quiet address while one address guesses in 60 boxes', async () => {
    const { answers, stop } = flood(guess);
    const victims: { status: number; verifiedMeanwhile: number }[] = [];
    for (let nth = 0; nth < 8; nth += 1) {
      const before = verified(answers);
      const status = await post('default', 'signin', ann, `10.1.0.${String(nth)}`);
      victims.push({ status, verifiedMeanwhile: verified(answers) - before });
    }
    await stop();
    expect(victims.map(({ status }) => status)).to.deep.equal(victims.map(() => 303));
    // What had a turn before it, apart from what was there before anything had failed.
    expect(Math.max(...victims.slice(1).map((one) => one.verifiedMeanwhile))).to.be.at.most(30);
    expect(answers.some((status) => status === 429)).to.equal(true);
  });

  it('R-03 signs people up, and gives tokens, while one address guesses in 60 boxes', async () => {
    await api.declare('default', [
      { kind: 'Client', id: 'chosen', grant_types: ['client_credentials'], secret: 'a chosen secret' },
    ]);
    const { answers, stop } = flood(guess);
    const statuses = [
      await post('default', 'signup', { email: 'bob@shop.example', password: ann.password }, '10.1.1.1'),
      await token('chosen:a chosen secret', '10.1.1.2'),
    ];
    await stop();
    expect(statuses).to.deep.equal([303, 200]);
    expect(answers.length).to.be.greaterThan(0);
  });

  it('R-03 signs people in while many addresses guess at clients of another box', async () => {
    await api.declare('box-0', [
      { kind: 'Client', id: 'target', grant_types: ['client_credentials'], secret: 'a chosen secret' },
    ]);
    const { stop } = flood((nth) =>
      token(`target:wrong ${String(nth)}`, `10.8.${String(nth >> 8)}.${String(nth & 255)}`, 'box-0'),
    );
    const statuses: number[] = [];
    for (let nth = 0; nth < 4; nth += 1) statuses.push(await post('default', 'signin', ann, `10.1.2.${String(nth)}`));
    await stop();
    expect(statuses).to.deep.equal([303, 303, 303, 303]);
  });

  async function token(credentials: string, from: string, box = 'default'): Promise<number> {
    const response = await fetch(`${api.url}/boxes/${box}/auth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(credentials)}`, 'X-Forwarded-For': from },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    await response.arrayBuffer();
    return response.status;
  }
});

/** Passwords that argon2 has verified. */
function verified(answers: readonly number[]): number {
  return answers.filter((status) => status === 200).length;
}
