import { expect } from 'chai';
import { newBrowser } from '../../pages/browser.ts';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

const composed = '\u{e9}';
const decomposed = 'e\u{301}';

describe('A-16 a password', () => {
  let api: BoxApi;
  let nth = 0;
  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  async function create(password: string): Promise<{ readonly status: number; readonly text: string; email: string }> {
    nth += 1;
    const email = `user-${String(nth)}@mail.example`;
    const { status, text } = await api.call('POST', '/users', { body: { email, password } });
    return { status, text, email };
  }

  /** Status of the sign-in page: 303 is in, 200 shows it again. */
  async function signIn(email: string, password: string): Promise<number> {
    return (await newBrowser(api).submit('/auth/signin', { email, password })).status;
  }

  const lengths: readonly [what: string, password: string][] = [
    ['of 65 bytes', `${'x'.repeat(64)}y`],
    ['of 73 bytes, where bcrypt would end', `${'x'.repeat(72)}y`],
    ['of 4096 bytes', `${'x'.repeat(4095)}y`],
    ['of 4096 bytes in 2048 characters', composed.repeat(2048)],
    ['of 4096 bytes in 1024 characters', '\u{1f511}'.repeat(1024)],
  ];
  for (const [what, password] of lengths) {
    it(`${what} is taken whole: the last character counts`, async () => {
      const { status, text, email } = await create(password);
      expect(status, text).to.equal(201);
      const shorter = Array.from(password).slice(0, -1).join('');
      expect([await signIn(email, shorter), await signIn(email, password)]).to.deep.equal([200, 303]);
    });
  }

  for (const [what, password] of [
    ['of 4097 bytes', 'x'.repeat(4097)],
    ['of 4098 bytes in 2049 characters', composed.repeat(2049)],
  ] as const) {
    it(`${what} is refused, and says how long one may be`, async () => {
      const { status, text } = await create(password);
      expect([status, text.includes('4096'), text.includes(password)]).to.deep.equal([422, true, false]);
    });
  }

  it('is the same whether a keyboard writes a letter as one character or as two', async () => {
    const first = await create(`caf${composed} au lait`);
    const second = await create(`caf${decomposed} au lait`);
    for (const { email } of [first, second]) {
      for (const letter of [composed, decomposed]) {
        expect(await signIn(email, `caf${letter} au lait`)).to.equal(303);
      }
    }
  });

  for (const password of ['  correct horse', 'correct horse  ', '\tcorrect horse', '        ', '\u{a0}correct horse']) {
    it(`keeps its blanks: ${JSON.stringify(password)}`, async () => {
      const { status, text, email } = await create(password);
      expect(status, text).to.equal(201);
      expect(await signIn(email, password)).to.equal(303);
      expect(await signIn(email, password.trim())).to.equal(200);
    });
  }
});
