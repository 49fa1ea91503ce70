import { expect } from 'chai';
import { uiPolicy } from '../../api/pages/ui-page.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { sendRequest } from '../http/raw-http.ts';

const issuer = 'https://auth.shop.example';

/** Bytes that may be transferred until the UI is shown. */
const MOST_BYTES = 120_000;

describe('the files of the admin UI', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
    await api.declare('default', [{ kind: 'Box', id: 'default', sign_in: { title: 'The <Shop>' } }]);
    await api.declare('hosted', [{ kind: 'Box', id: 'hosted', hosts: ['auth.shop.example'], issuer }]);
  });
  after(() => api.stop());

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${api.url}/boxes/default${path}`, { headers, redirect: 'manual' });

  /** Returns the names of the script and the style in the page; its icon is in it. */
  function filesIn(text: string): readonly string[] {
    return [...text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, name = '']) => name).toSorted();
  }

  it('begin with a page that holds no data, no script and no style', async () => {
    const response = await get('/ui/', { 'Accept-Language': 'de' });
    const text = await response.text();
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-security-policy')).to.equal(uiPolicy());
    expect(uiPolicy()).to.contain("require-trusted-types-for 'script'").and.not.to.contain('unsafe');
    expect(response.headers.get('x-frame-options')).to.equal('DENY');
    expect(response.headers.get('content-language')).to.equal('de');
    expect(text).to.contain('<html lang="de">').and.to.contain('The &#60;Shop&#62;');
    expect(text).not.to.match(/<script[^>]*>[^<]|<style|style=|\son\w+=/);
    expect(filesIn(text)).to.have.length(2);
  });

  it('are a script and a style below it, which a browser keeps forever', async () => {
    for (const name of filesIn(await (await get('/ui/')).text())) {
      expect(name).to.match(/^ui-[0-9a-f]{16}\.(?:js|css)$/);
      const response = await get(`/ui/${name}`);
      expect(response.status).to.equal(200);
      expect(response.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(response.headers.get('content-type')).to.match(/^text\/(?:javascript|css); charset=utf-8$/);
    }
  });

  it(`transfer with the page at most ${String(MOST_BYTES)} bytes, compressed as the browser accepts`, async () => {
    const text = await (await get('/ui/')).text();
    const sizes: Record<string, number> = {};
    for (const encoding of ['br', 'gzip', 'identity']) {
      sizes[encoding] = Buffer.byteLength(text);
      for (const name of filesIn(text)) {
        const target = `/boxes/default/ui/${name}`;
        const reply = await sendRequest(api.url, { method: 'GET', target, headers: [['Accept-Encoding', encoding]] });
        expect(reply.headers.get('content-encoding')).to.equal(encoding === 'identity' ? undefined : encoding);
        expect(reply.headers.get('vary')).to.equal('Accept-Encoding');
        sizes[encoding] += Number(reply.headers.get('content-length'));
      }
    }
    process.stdout.write(`      bytes of the UI: ${JSON.stringify(sizes)}\n`);
    expect(sizes['br']).to.be.below(MOST_BYTES);
    expect(sizes['gzip']).to.be.below(MOST_BYTES);
  });

  it('name nothing of another host', async () => {
    const names = filesIn(await (await get('/ui/')).text());
    const texts = await Promise.all(names.map(async (name) => (await get(`/ui/${name}`)).text()));
    // Namespaces of SVG and MathML, and the examples of descriptions, are no addresses that a browser loads.
    const hosts = texts.flatMap((text) => text.match(/https?:\/\/[a-z0-9][^"'`\s)]+/g) ?? []);
    const others = hosts.filter((host) => !/^https?:\/\/(?:www\.w3\.org\/|app\.example\.com|127\.0\.0\.1$)/.test(host));
    expect(others).to.deep.equal([]);
  });

  it('are not there under another name', async () => {
    for (const name of ['ui.js', 'main.tsx', 'ui-0000000000000000.js', '..%2fmain.ts', 'constructor']) {
      expect((await get(`/ui/${name}`)).status, name).to.equal(404);
    }
  });

  it('are found from /ui without a slash, and at a host of a box', async () => {
    const found = await get('/ui');
    expect([found.status, found.headers.get('location')]).to.deep.equal([303, 'http://boxgate.test/boxes/default/ui/']);
    const headers = [['Host', 'auth.shop.example']] as const;
    const page = await sendRequest(api.url, { method: 'GET', target: '/ui/', headers });
    expect(page.status).to.equal(200);
    expect(page.text).to.contain(`data-issuer="${issuer}"`);
  });
});
