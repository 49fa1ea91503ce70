import { expect } from 'chai';
import { startApi } from '../../support/api.ts';

const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const client = { kind: 'Client', id: 'a', grant_types: ['client_credentials'], secret: 'secret' } as const;

/** The root of an installation with two boxes, for an `Accept` header. */
async function root(standalone: string, accept: string, method = 'GET') {
  const api = await startApi({ environment: { BOXGATE_STANDALONE: standalone } });
  try {
    await api.declare('shop', [client]);
    await api.declare('blog', [client]);
    const response = await fetch(`${api.url}/`, { method, headers: { Accept: accept, 'Accept-Language': 'de, en' } });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  } finally {
    await api.stop();
  }
}

describe('the root of an installation, where no box is', () => {
  it('is a page for browsers that says what this is, and names no tenant', async () => {
    const { status, type, text } = await root('false', html);
    expect([status, type]).to.deep.equal([200, 'text/html; charset=utf-8']);
    expect(text).to.contain('Dieser Server meldet Personen bei Apps an');
    expect(text).not.to.match(/shop|blog|<a /);
  });

  it('links the consoles of the boxes of boxgate dev', async () => {
    const { text } = await root('true', html);
    const links = [...text.matchAll(/<a href="([^"]*)">/g)].map(([, address]) => address);
    expect(links).to.deep.equal(['boxes/blog/ui/', 'boxes/shop/ui/']);
  });

  it('is an error in JSON for programs, and for other methods', async () => {
    const missing = { status: 404, type: 'application/json; charset=utf-8', text: '{"error":"not_found"}' };
    for (const accept of ['*/*', 'application/json', `application/json,${html}`])
      expect(await root('true', accept), accept).to.deep.equal(missing);
    expect(await root('true', html, 'POST')).to.include({ status: 404 });
  });
});
