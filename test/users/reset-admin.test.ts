import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { addUser, newBrowser } from '../http/pages/browser.ts';
import { startBoxgate } from '../dev/boxgate-process.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { unthrottled } from '../support/unthrottled.ts';

const email = 'admin@shop.example';
const lost = 'the password of before';
const newKey = randomBytes(32).toString('base64');

describe('boxgate admin reset', () => {
  let database: TestDatabase;
  let api: TestApi;

  /** A box with an administrator, on a database whose encryption key is lost from then on. */
  before(async () => {
    database = await freshDatabase();
    const before = await startApi({ database, environment: unthrottled });
    const auth = { implicit: { redirect_uri: 'https://app.example/back' } };
    await before.declare('shop', [
      { kind: 'Box', id: 'shop', password: { min_length: 12 } },
      { kind: 'Client', id: 'app', grant_types: ['implicit'], first_party: true, scope: ['openid', 'boxgate'], auth },
    ]);
    await addUser(before, email, lost, 'shop');
    await fetch(`${before.url}/boxes/shop/.well-known/jwks.json`);
    expect(await signIn(before, lost)).to.equal(303);
    await before.stop();
  });
  after(async () => {
    await api.stop();
    await database.drop();
  });

  const environment = { ...unthrottled, BOXGATE_ENCRYPTION_KEY: newKey };

  async function signIn(at: TestApi, password: string, who = email): Promise<number> {
    return (await newBrowser(at, 'shop').submit('/auth/signin', { email: who, password })).status;
  }

  /** Status of a list of users with a token that somebody gets by signing in to an app. */
  async function administers(who: string, password: string): Promise<number> {
    const browser = newBrowser(api, 'shop');
    await browser.submit('/auth/signin', { email: who, password });
    const { location } = await browser.get('/auth/authorize?response_type=token&client_id=app&scope=boxgate');
    const token = new URLSearchParams(location.split('#')[1]).get('access_token') ?? '';
    return (await fetch(`${api.url}/boxes/shop/users`, { headers: { Authorization: `Bearer ${token}` } })).status;
  }

  /** Runs the command with a password on its standard input. */
  async function reset(args: readonly string[], input: string) {
    const command = startBoxgate(['admin', 'reset', ...args], {
      environment: { BOXGATE_DATABASE_URL: database.apiUrl, BOXGATE_ENCRYPTION_KEY: newKey },
    });
    command.type(`${input}\n`, 'end');
    const code = await command.ended;
    expect(command.stdout + command.stderr).not.to.contain(input === '' ? lost : input);
    return { code, stdout: command.stdout, stderr: command.stderr };
  }

  it('R-37 leads back in, as docs/guides/keys.md says, when the encryption key is lost', async () => {
    const refused: unknown = await startApi({ database, environment }).catch((error: unknown) => error);
    expect(String(refused)).to.contain('BOXGATE_ENCRYPTION_KEY holds no key that opens the signing keys');
    await ownerQuery({ database }, 'DELETE FROM boxgate.signing_key', []);
    api = await startApi({ database, environment });
    expect(await signIn(api, lost), 'with the password of before').to.equal(200);
    expect(await reset(['shop', email], 'a new and long password')).to.deep.equal({
      code: 0,
      stdout: `box shop: ${email} has a new password and is an administrator\n`,
      stderr: '',
    });
    expect([await signIn(api, 'a new and long password'), await signIn(api, lost)]).to.deep.equal([303, 200]);
    expect(await administers(email, 'a new and long password')).to.equal(200);
  });

  it('R-37 ends what the user had begun, makes the user active, and keeps the groups', async () => {
    const browser = newBrowser(api, 'shop');
    await browser.submit('/auth/signin', { email, password: 'a new and long password' });
    const { location } = await browser.get('/auth/authorize?response_type=token&client_id=app&scope=boxgate');
    const token = new URLSearchParams(location.split('#')[1]).get('access_token') ?? '';
    const status = async (): Promise<number> =>
      (await fetch(`${api.url}/boxes/shop/users`, { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await status()).to.equal(200);
    await ownerQuery(api, `UPDATE boxgate.user SET status = 'inactive' WHERE box = 'shop'`, []);
    expect((await reset(['shop', email], 'yet another long password')).code).to.equal(0);
    expect(await status()).to.equal(401);
    expect(await administers(email, 'yet another long password')).to.equal(200);
  });

  it('R-37 creates an administrator who is not there', async () => {
    const { code, stdout } = await reset(['shop', 'Second@shop.example'], 'a new and long password');
    expect([code, stdout]).to.deep.equal([0, 'box shop: Second@shop.example was created and is an administrator\n']);
    expect(await administers('second@shop.example', 'a new and long password')).to.equal(200);
  });

  const refusals: readonly (readonly [what: string, args: readonly string[], input: string, said: string])[] = [
    [
      'a password that the box refuses',
      ['shop', email],
      'too short',
      'The password on standard input must have at least 12 characters',
    ],
    ['no password', ['shop', email], '', 'The new password is missing: send it on standard input'],
    ['a box that is not there', ['nowhere', email], 'a new and long password', 'There is no box nowhere'],
    ['an email that is none', ['shop', 'admin'], 'a new and long password', '"admin" is not an email'],
  ];
  for (const [what, args, input, said] of refusals) {
    it(`R-37 says what is wrong with ${what}, and changes nothing`, async () => {
      expect(await reset(args, input)).to.deep.equal({ code: 1, stdout: '', stderr: `boxgate: ${said}\n` });
      expect(await signIn(api, 'yet another long password')).to.equal(303);
    });
  }
});
