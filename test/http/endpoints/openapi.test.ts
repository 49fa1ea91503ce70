import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { isList, isObject } from '../../../crds/path.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';

describe('GET /openapi.json', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi();
    await api.declare('shop', [{ kind: 'Client', id: 'app', grant_types: [] }]);
    await api.declare('other', [{ kind: 'Client', id: 'app', grant_types: [] }]);
  });
  after(() => api.stop());

  const read = (box: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${api.url}/boxes/${box}/openapi.json`, init);

  async function serverOf(box: string): Promise<unknown> {
    const document: unknown = await (await read(box)).json();
    const servers = isObject(document) && isList(document['servers']) ? document['servers'] : [];
    return servers.map((server) => (isObject(server) ? server['url'] : undefined));
  }

  it('describes the box at its own issuer', async () => {
    expect(await serverOf('shop')).to.deep.equal(['http://boxgate.test/boxes/shop']);
    expect(await serverOf('other')).to.deep.equal(['http://boxgate.test/boxes/other']);
    const text = await (await read('shop')).text();
    expect(text).to.contain('"openapi":"3.1').and.not.contain('auth.example.com');
  });

  it('is the file of the release, with no other change, however many boxes are described at once', async () => {
    const file = await readFile(new URL('../../../api/http/endpoints/openapi.json', import.meta.url), 'utf8');
    const compact = JSON.stringify(JSON.parse(file));
    const boxes = ['shop', 'other', 'shop', 'other'];
    const texts = await Promise.all(boxes.map(async (box) => (await read(box)).text()));
    boxes.forEach((box, nth) => {
      const expected = compact.replaceAll('https://auth.example.com/boxes/shop', `http://boxgate.test/boxes/${box}`);
      // Not as a comparison of chai, which would print both documents.
      expect(texts[nth] === expected, box).to.equal(true);
    });
  });

  it('is for everybody, from every origin, and may be cached', async () => {
    const { status, headers } = await read('shop', { headers: { Origin: 'https://anywhere.example' } });
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json; charset=utf-8']);
    expect(headers.get('access-control-allow-origin')).to.equal('*');
    expect(headers.get('cache-control')).to.equal('public, max-age=300');
    const asked = { Origin: 'https://anywhere.example', 'Access-Control-Request-Method': 'GET' };
    const preflight = await read('shop', { method: 'OPTIONS', headers: asked });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).to.deep.equal([204, 'GET']);
  });

  it('answers HEAD without a body, another method with 405, and an unknown box with 404', async () => {
    const head = await read('shop', { method: 'HEAD' });
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
    expect(Number(head.headers.get('content-length'))).to.be.greaterThan(10_000);
    const posted = await read('shop', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    expect((await read('nobody')).status).to.equal(404);
  });
});
