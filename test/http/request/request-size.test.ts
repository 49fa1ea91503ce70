import { expect } from 'chai';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { leastThreadTime } from '../../support/thread-time.ts';

describe('number of parameters and members of a request', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi();
    await api.declare('open', [
      { kind: 'AccessPolicy', id: 'all', engine: 'matcho', subjects: 'anyone', matcho: { body: 'nil?' } },
      { kind: 'AccessPolicy', id: 'bodies', engine: 'matcho', subjects: 'anyone', matcho: { body: 'present?' } },
    ]);
    await read(1);
  });
  after(() => api.stop());

  async function read(count: number, path = '/Client/x'): Promise<Response> {
    const query = Array.from({ length: count }, (_, at) => at.toString(36)).join('&');
    return fetch(`${api.url}/boxes/open${path}?${query}`);
  }

  async function post(body: string, contentType: string, path = '/Client'): Promise<Response> {
    return fetch(`${api.url}/boxes/open${path}`, { method: 'POST', headers: { 'Content-Type': contentType }, body });
  }

  it('R-13 a query may have 1,000 parameters, and more are refused with a sentence', async () => {
    expect(await (await read(1000)).text()).not.to.contain('parameters');
    const response = await read(1001);
    expect(response.status).to.equal(400);
    expect(await response.text()).to.contain('The query has more than 1000 parameters');
    for (const path of ['/auth/userinfo', '/Session']) expect((await read(1001, path)).status, path).to.equal(400);
  });

  it('R-13 a form may have 1,000 parameters', async () => {
    const names = Array.from({ length: 1001 }, (_, at) => `${at.toString(36)}=1`);
    const response = await post(names.join('&'), 'application/x-www-form-urlencoded', '/auth/token');
    expect(response.status).to.equal(400);
    expect(await response.text()).to.contain('more than 1000 parameters');
    const json = JSON.stringify(Object.fromEntries(names.map((name) => [name, '1'])));
    expect((await post(json, 'application/json', '/auth/token')).status).to.equal(400);
  });

  const bodies: Readonly<Record<string, () => string>> = {
    '90,000 members': () =>
      JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [at.toString(36), 1]))),
    '90,000 objects': () => JSON.stringify({ l: Array.from({ length: 90_000 }, () => ({ a: 1 })) }),
    '200,000 elements': () => JSON.stringify({ l: Array(200_000).fill(1) }),
    '200,000 empty lists': () => JSON.stringify({ l: Array(200_000).fill([]) }),
  };
  for (const [name, body] of Object.entries(bodies)) {
    it(`R-13 a body with ${name} is refused before it is parsed`, async () => {
      const many = body();
      const time = await leastThreadTime(async () => {
        const response = await post(many, 'application/json');
        expect(response.status).to.equal(422);
        expect(await response.text()).to.contain('more than 20000 members and elements');
      });
      // The same bytes in a single text show what sending and reading them takes.
      const single = JSON.stringify({ l: many.replaceAll('"', ' ') });
      expect(time).to.be.lessThan(3 * (await leastThreadTime(() => post(single, 'application/json'))) + 30);
    });
  }

  it('R-13 a JSON body with 15,000 elements is read, and told what is wrong with it', async () => {
    const response = await post(JSON.stringify({ l: Array(15_000).fill(1) }), 'application/json');
    expect(response.status).to.equal(422);
    expect(await response.text()).not.to.contain('members and elements');
  });
});
