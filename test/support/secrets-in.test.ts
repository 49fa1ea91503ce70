import { expect } from 'chai';
import { newBrowserToken } from '../../api/credentials/browser-token.ts';
import { makeCode } from '../../api/credentials/code-text.ts';
import { firstRefreshToken, refreshTokenText } from '../../api/credentials/refresh-token-text.ts';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { makeAccessToken } from '../../api/credentials/token-text.ts';
import { startLoggedProcess } from './logged-process.ts';
import { demandNoSecrets, secretsIn } from './secrets-in.ts';

describe('X-14 a log of the tests', () => {
  const { text, id } = makeAccessToken(20_000, 1_800_000_000_000);
  const secrets: Readonly<Record<string, string>> = {
    'an access token': text,
    'a refresh token': refreshTokenText(firstRefreshToken(id)),
    'a code': makeCode({ grantsNothing: false, hasDefaultScope: false }).text,
    'a client secret': generateClientSecret(),
    'a JWT': 'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.AAAA',
    'a cookie of a sign-in': `boxgate-default=${newBrowserToken()}`,
    'a hash of a password': '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    'a private key': '{"kty":"EC","d":"AAAAAAAAAAAAAAAAAAAAAAAA"}',
    'a canary': 'canary-token-query-AAAAAAAAAAAA',
    'a password': 'password=correct horse',
  };
  for (const [name, secret] of Object.entries(secrets)) {
    it(`is found to hold ${name}`, () => {
      expect(secretsIn(`{"level":30,"msg":"asked for ${secret}"}`)).to.deep.equal([name]);
    });
  }

  it('may hold anything else, and what it holds is not repeated', () => {
    expect(secretsIn('{"path":"/auth/token","client":"app","request_id":"5e779ecfd8c-2z","status":200}')).to.be.empty;
    expect(() => demandNoSecrets(['nothing', `token ${text}`])).to.throw(
      /^the log holds secrets: an access token in line 2$/,
    );
  });

  it('is looked through at the end of each program, whatever the test was about', async () => {
    const says = `console.log('listening'); console.log('${text}'); setInterval(() => {}, 1000)`;
    const leaking = await startLoggedProcess(['-e', says], {}, (line) => (line === text ? line : undefined));
    const outcome = await leaking.end('SIGTERM').catch((error: unknown) => String(error));
    expect(outcome).to.contain('the log holds secrets: an access token in line 2');
  });
});
