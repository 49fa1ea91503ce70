import { expect } from 'chai';
import { startApi } from '../../../support/api.ts';
import type { TestApi } from '../../../support/api.ts';
import { leastThreadTime } from '../../../support/thread-time.ts';

/** A compilation takes 20 ms at most; the rest is the client in the same thread, and a slow machine. */
const MILLISECONDS = 150;

describe('compilation of policies', () => {
  let api: TestApi;
  let seed = 0;

  before(async () => {
    api = await startApi();
    await api.declare('open', [{ kind: 'AccessPolicy', id: 'all', engine: 'allow', subjects: 'anyone' }]);
    await put('warm-up', { engine: 'json-schema', schema: { properties: { uri: { pattern: '^/$' } } } });
  });
  after(() => api.stop());

  function put(id: string, fields: object): Promise<Response> {
    return fetch(`${api.url}/boxes/open/AccessPolicy/${id}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ subjects: 'linked', ...fields }),
    });
  }

  /** 30 KB: each property has a small pattern that no other schema has. */
  function largeSchema(): object {
    seed += 1;
    const pattern = (at: number) => `^[a-z]{1,${String(20 + (at % 7))}}x${String(seed)}y${String(at)}$`;
    const names = Array.from({ length: 480 }, (_, at): [string, unknown] => [
      `p${String(at)}`,
      { type: 'string', pattern: pattern(at) },
    ]);
    return { properties: { body: { type: 'object', properties: Object.fromEntries(names) } } };
  }

  const rules: Readonly<Record<string, () => object>> = {
    'json-schema': () => ({ engine: 'json-schema', schema: largeSchema() }),
    matcho: () => ({
      engine: 'matcho',
      matcho: { uri: { '$one-of': Array.from({ length: 1000 }, (_, at) => `#^/x${String(at)}/[a-z]{1,99}$`) } },
    }),
    'matcho with wide ranges': () => ({
      engine: 'matcho',
      matcho: {
        uri: { '$one-of': Array.from({ length: 40 }, (_, at) => `#(?i)[!-\uffff]{2}[!-\ufffe]${String(at)}`) },
      },
    }),
    cel: () => ({ engine: 'cel', expression: `1${'+1'.repeat(4000)} > 0` }),
    complex: () => ({ engine: 'complex', or: Array.from({ length: 32 }, () => smallRule()) }),
  };

  function smallRule(): object {
    const names = Array.from({ length: 100 }, (_, at): [string, unknown] => [`p${String(at)}`, { type: 'string' }]);
    return { engine: 'json-schema', schema: { properties: { params: { properties: Object.fromEntries(names) } } } };
  }

  for (const [name, rule] of Object.entries(rules)) {
    it(`R-02 a ${name} policy that takes too long to compile is refused quickly over REST`, async () => {
      const time = await leastThreadTime(async () => {
        const response = await put('large', rule());
        expect(response.status).to.equal(422);
        expect(await response.text()).to.match(/too long to compile|at most 150 subschemas/);
      });
      expect(time).to.be.lessThan(MILLISECONDS);
    });
  }

  it('R-02 one that is declared is stored, grants nothing, says why and holds up nobody', async () => {
    const fields = { kind: 'AccessPolicy', engine: 'json-schema', subjects: 'anyone', schema: largeSchema() } as const;
    const [result] = await api.declare('shop', [{ ...fields, id: 'large' }]);
    expect(result?.faults?.[0]?.message).to.contain('too long to compile');
    const read = async () => {
      expect((await fetch(`${api.url}/boxes/shop/Client/x`)).status).to.equal(401);
    };
    expect(await leastThreadTime(read)).to.be.lessThan(MILLISECONDS);
    await read();
    expect(api.logLines.filter((line) => line.includes('"policy":"large"'))).to.have.length(1);
  });

  it('R-02 a policy near the bound is taken and grants', async () => {
    const names = Array.from({ length: 70 }, (_, at): [string, unknown] => [
      `p${String(at)}`,
      { type: 'string', pattern: `^a${String(at)}` },
    ]);
    const schema = { properties: { body: { properties: Object.fromEntries(names) } } };
    expect((await put('near', { engine: 'json-schema', schema, subjects: 'anyone' })).status).to.equal(201);
  });
});
