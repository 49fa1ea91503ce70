import { expect } from 'chai';
import { readApiConfig } from '../../../api/config.ts';
import { startApi, testEncryptionKey } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';

const perMinute = 20;
const wrong = 'canary-wrong-management-key';

describe('the key of the management port', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const call = (key: string) =>
    fetch(`${api.managementUrl}/boxes?cluster=c`, { headers: { Authorization: `Bearer ${key}` } });

  it('R-17 is guessed at most 20 times a minute from one address, and each failure is logged without the key', async () => {
    const statuses: number[] = [];
    for (let nth = 0; nth < perMinute + 2; nth += 1) statuses.push((await call(`${wrong}-${String(nth)}`)).status);
    expect(statuses).to.deep.equal([...Array<number>(perMinute).fill(401), 429, 429]);
    const held = await call(wrong);
    expect(Number(held.headers.get('retry-after'))).to.be.within(1, 60);
    const logged = api.logLines.filter((line) => line.includes('had no valid key'));
    expect(logged).to.have.length(perMinute);
    expect(logged[0]).to.contain('"peer":"127.0.0.1"');
    expect(api.logLines.join('')).not.to.contain('canary');
  });

  it('R-17 is taken when it is right, whatever a stranger at the same address does', async () => {
    expect((await call(api.managementKey)).status).to.equal(200);
  });

  it('R-17 is needed on the loopback address only, unless a setting says otherwise', () => {
    const config = (environment: Record<string, string>) =>
      readApiConfig({
        BOXGATE_DATABASE_URL: 'postgres://user:password@host:5432/database',
        BOXGATE_MANAGEMENT_KEYS: 'a-key-of-16-signs',
        BOXGATE_ENCRYPTION_KEY: testEncryptionKey,
        BOXGATE_PUBLIC_URL: 'http://boxgate.test',
        ...environment,
      });
    expect(config({}).managementHost).to.equal('127.0.0.1');
    expect(config({ BOXGATE_HOST: '0.0.0.0' }).managementHost).to.equal('127.0.0.1');
    expect(
      config({ BOXGATE_MANAGEMENT_HOST: '0.0.0.0', BOXGATE_MANAGEMENT_TLS_FOLDER: '/tls' }).managementHost,
    ).to.equal('0.0.0.0');
  });
});
