import { expect } from 'chai';
import http from 'node:http';
import { claimEpoch, startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';

describe('the management port', () => {
  let api: TestApi;
  let epoch: number;

  before(async () => {
    api = await startApi({ environment: { BOXGATE_JWKS_HOSTS: 'keys.example.com' } });
    epoch = await claimEpoch(api.managementUrl, api.managementKey, 'c');
  });
  after(() => api.stop());

  const headers = (): Record<string, string> => ({ Authorization: `Bearer ${api.managementKey}` });
  const head = (): string => `${JSON.stringify({ cluster: 'c', epoch, complete: false })}\n`;
  const declaration = (id: string, description: string): string => {
    const resource = { resourceType: 'AccessPolicy', id, engine: 'allow', description };
    const owner = { name: `default/${id}`, uid: id };
    return `${JSON.stringify({ kind: 'AccessPolicy', id, owner, digest: 'd', resource })}\n`;
  };

  async function apply(body: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`${api.managementUrl}/boxes/shop/apply`, { method: 'POST', headers: headers(), body });
    return { status: response.status, text: await response.text() };
  }

  for (const [name, sign] of [
    ['U+2028', '\u2028'],
    ['U+2029', '\u2029'],
    ['U+0085', '\u0085'],
    ['a carriage return', '\r'],
  ] as const) {
    it(`F-31 X-13 takes a text that holds ${name}: one object must not keep its whole box from being applied`, async () => {
      const { status, text } = await apply(head() + declaration('odd', `a${sign}b`) + declaration('even', name));
      expect(status).to.equal(200);
      expect(text).to.match(/"id":"odd","result":"(created|updated|unchanged)"/);
      expect(text).to.match(/"id":"even","result":"(created|updated|unchanged)"/);
    });
  }

  for (const [host, faults] of [
    ['keys.example.com', undefined],
    [
      'other.example.com:8443',
      [
        {
          path: 'jwks_uri',
          message:
            'is on the host other.example.com:8443, which BOXGATE_JWKS_HOSTS of the API does not list: no keys are fetched from there',
        },
      ],
    ],
  ] as const) {
    it(`C-12 stores a client with its keys on ${host} and says ${faults ? 'that' : 'nothing, as'} they are${faults ? ' not' : ''} fetched, also when asked again`, async () => {
      const id = `keys-${String(faults?.length ?? 0)}`;
      const jwks_uri = `https://${host}/jwks.json`;
      const resource = { resourceType: 'Client', id, grant_types: ['client_credentials'], jwks_uri };
      const owner = { name: `default/${id}`, uid: id };
      const body = `${head()}${JSON.stringify({ kind: 'Client', id, owner, digest: 'd', resource })}\n`;
      for (const result of ['created', 'unchanged']) {
        const { text } = await apply(body);
        const lines = text
          .trim()
          .split('\n')
          .map((line): unknown => JSON.parse(line));
        expect(lines).to.deep.include({ kind: 'Client', id, result, ...(faults && { faults }) });
      }
    });
  }

  it('answers a line that is no JSON, whatever stands behind it', async () => {
    const { status, text } = await apply(`${head()}nonsense\n${declaration('late', 'x').repeat(2000)}`);
    expect(status).to.equal(400);
    expect(text).to.contain('is not JSON');
  });

  it('answers a line without an end', async () => {
    const { status, text } = await apply(head() + 'x'.repeat(1_200_000));
    expect(status).to.equal(400);
    expect(text).to.contain('a line is longer than 1048576 characters');
  });

  it('applies nothing of a call that breaks off between two lines', async () => {
    const path = '/boxes/broken/apply';
    const { hostname, port } = new URL(api.managementUrl);
    const sent = http.request({ hostname, port, path, method: 'POST', headers: headers() });
    const ended = new Promise((resolve) => sent.once('error', resolve).once('close', resolve));
    sent.write(head() + declaration('a', 'x'), () => sent.destroy());
    await ended;
    const boxes = await fetch(`${api.managementUrl}/boxes?cluster=c`, { headers: headers() });
    expect(await boxes.text()).not.to.contain('broken');
    expect(api.logLines.filter((line) => line.includes('management call failed'))).to.deep.equal([]);
  });
});
