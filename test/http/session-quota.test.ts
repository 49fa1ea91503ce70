import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { basic, sendForm } from '../oauth/requests.ts';
import type { Reply } from '../oauth/requests.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { addUser, newBrowser } from './pages/browser.ts';

const secret = generateClientSecret();
const back = 'https://app.example/back';
const ann = { email: 'ann@shop.example', password: 'a long enough passphrase' };
const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');

describe('a box with as many active sessions as its quota allows', () => {
  let one: TestApi;
  let other: TestApi;

  before(async () => {
    one = await startApi();
    other = await startApi({ database: one.database });
    const place = { redirect_uri: back };
    await one.declare('default', [
      { kind: 'Client', id: 'app', secret, grant_types: ['client_credentials'] },
      {
        kind: 'Client',
        id: 'web',
        grant_types: ['implicit', 'authorization_code'],
        first_party: true,
        auth: { implicit: place, authorization_code: place },
      },
    ]);
  });
  after(async () => {
    await other.stop();
    await one.stop();
  });

  const token = (api: TestApi): Promise<Reply> =>
    sendForm(`${api.url}/boxes/default/auth/token`, { grant_type: 'client_credentials' }, basic('app', secret));

  it('R-53 refuses a token on both replicas within seconds, and an implicit one and a code too, until the quota is raised', async () => {
    await addUser(one, ann.email, ann.password);
    await one.declareWithin('default', { sessions: 5 }, []);
    const browser = newBrowser(one);
    await browser.submit('/auth/signin', ann);
    const authorize = async (parameters: Record<string, string>): Promise<URLSearchParams> => {
      const query = new URLSearchParams({ client_id: 'web', redirect_uri: back, ...parameters });
      const { location } = await browser.get(`/auth/authorize?${query.toString()}`);
      return new URLSearchParams(location.slice(location.search(/[#?]/) + 1));
    };
    for (let nth = 0; nth < 5; nth += 1) expect((await token(nth % 2 === 0 ? one : other)).status).to.equal(200);
    for (const api of [one, other]) {
      await eventually('the box is full', async () => (await token(api)).status !== 200);
      const refused = await token(api);
      expect(refused.status, refused.text).to.equal(422);
      expect(refused.body['error']).to.equal('slow_down');
      expect(refused.body['error_description']).to.contain('`sessions`').and.contain('boxgate.dev/quota');
      expect(refused.headers.get('retry-after')).to.equal('60');
      expect(refused.headers.get('cache-control')).to.equal('no-store');
    }
    const implicit = await authorize({ response_type: 'token' });
    expect(implicit.get('error')).to.equal('temporarily_unavailable');
    expect(implicit.get('error_description')).to.contain('`sessions`');
    const asked = await authorize({ response_type: 'code', code_challenge: challenge, code_challenge_method: 'S256' });
    const redemption = {
      grant_type: 'authorization_code',
      client_id: 'web',
      redirect_uri: back,
      code: asked.get('code') ?? '',
      code_verifier: verifier,
    };
    const redeem = (): Promise<Reply> => sendForm(`${other.url}/boxes/default/auth/token`, redemption);
    expect((await redeem()).status).to.equal(422);
    await one.declareWithin('default', { sessions: 500_000 }, []);
    await eventually('the code, which nobody has used up, is redeemed', async () => (await redeem()).status === 200);
    expect((await token(one)).status).to.equal(200);
  });
});
