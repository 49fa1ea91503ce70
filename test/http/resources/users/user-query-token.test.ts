import { expect } from 'chai';
import { startBoxApi } from '../box-api.ts';
import type { BoxApi } from '../box-api.ts';

describe('U-08 the token in the query', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  const ask = (query: string, headers: Record<string, string> = {}) => fetch(`${api.base}/users${query}`, { headers });

  it('works alone, and is in no link of the answer', async () => {
    const response = await ask(`?access_token=${api.adminToken}&_count=1`);
    expect(response.status).to.equal(200);
    expect(response.headers.get('cache-control')).to.equal('private, no-store');
    expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(response.headers.get('link')).to.match(/_count=1/);
    expect([...response.headers].join()).not.to.contain(api.adminToken);
  });

  it('is 401 when it is missing or wrong, 400 when it stands twice', async () => {
    const bearer = { Authorization: `Bearer ${api.adminToken}` };
    const statuses = [
      await ask(''),
      await ask('?access_token='),
      await ask('?access_token=bgt_x'),
      await ask('?access_token=%0d%0a'),
      await ask(`?access_token=${api.adminToken}&access_token=${api.adminToken}`),
      await ask(`?access_token=${api.adminToken}`, bearer),
      await ask('?access_token=x', bearer),
    ].map(({ status }) => status);
    expect(statuses).to.deep.equal([401, 401, 401, 401, 400, 400, 400]);
  });

  it('E-20 is taken beside another scheme, which a proxy adds', async () => {
    const basic = { Authorization: `Basic ${btoa('proxy:secret')}` };
    expect((await ask(`?access_token=${api.adminToken}`, basic)).status).to.equal(200);
    expect((await ask('', basic)).status).to.equal(401);
  });

  it('is taken by no other resource', async () => {
    const response = await fetch(`${api.base}/Client?access_token=${api.adminToken}`);
    expect(response.status).to.equal(400);
  });

  it('is in no line of the log', () => {
    expect(api.logLines.join('\n')).not.to.contain(api.adminToken);
  });
});
