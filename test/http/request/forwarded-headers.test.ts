import { expect } from 'chai';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { sendRequest } from '../raw-http.ts';
import { startRouteApi } from '../route-requests.ts';
import type { RouteApi } from '../route-requests.ts';

describe('X-10 forwarded headers', () => {
  let api: RouteApi;

  before(async () => {
    api = await startRouteApi();
    for (const request of api.requests.filter(({ method }) => method === 'POST')) await api.ask(request);
  });
  after(() => api.stop());

  const forwarded = [
    ['X-Forwarded-For', '6.6.6.6'],
    ['X-Forwarded-Host', 'evil.example'],
    ['X-Forwarded-Proto', 'gopher'],
    ['X-Forwarded-Prefix', '/evil'],
    ['X-Original-URL', '/boxes/other/Client'],
    ['X-Rewrite-URL', '/boxes/other/Client'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Forwarded', 'for=6.6.6.6;host=evil.example;proto=gopher'],
    ['X-Request-Id', 'id-of-a-stranger'],
  ] as const;

  it('change nothing when a stranger sends them', async () => {
    for (const request of api.requests.filter(({ method }) => method === 'GET')) {
      const plain = await api.ask(request);
      const dressed = await api.ask(request, { headers: forwarded });
      // What is counted in the background may be stored between two answers.
      const again = await api.ask(request);
      // An OperationOutcome has the ID of its request.
      const [actual, ...expected] = [dressed, plain, again].map(({ text, headers }) =>
        text.replaceAll(headers.get('x-request-id') ?? '', ''),
      );
      expect(expected, request.name).to.include(actual);
      expect(dressed.headers.get('x-request-id')).not.to.equal('id-of-a-stranger');
    }
    expect(api.logLines.join('\n')).not.to.contain('6.6.6.6');
  });
});

describe('forwarded headers of a trusted proxy', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi({ environment: { BOXGATE_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, fd00::/8' } });
  });
  after(() => api.stop());

  /** Sends a request with these headers. Returns its log line. */
  async function logged(headers: readonly (readonly [string, string])[]): Promise<Readonly<Record<string, unknown>>> {
    const reply = await sendRequest(api.url, { method: 'GET', target: '/nothing', headers });
    const id = reply.headers.get('x-request-id') ?? '?';
    const line: unknown = JSON.parse(api.logLines.findLast((one) => one.includes(id)) ?? '{}');
    return typeof line === 'object' ? { ...line, id } : {};
  }

  const rows: Readonly<Record<string, string>> = {
    '6.6.6.6': '6.6.6.6',
    '6.6.6.6, 10.1.2.3': '6.6.6.6',
    '1.1.1.1, 6.6.6.6, 10.1.2.3, 127.0.0.1': '6.6.6.6',
    '2001:db8::1': '2001:db8::1',
    '2001:db8::1, fd00::7': '2001:db8::1',
    '::ffff:6.6.6.6': '6.6.6.6',
    '::FFFF:6.6.6.6': '6.6.6.6',
    '::ffff:606:606': '6.6.6.6',
    '2001:DB8:0::01': '2001:db8::1',
    'fe80::1%eth0': 'fe80::1',
    '10.1.2.3': '127.0.0.1',
    '': '127.0.0.1',
    ',,': '127.0.0.1',
    unknown: '127.0.0.1',
    '6.6.6': '127.0.0.1',
    '::::': '127.0.0.1',
    "6.6.6.6'; DROP TABLE session": '127.0.0.1',
    '6.6.6.6, evil': '127.0.0.1',
  };
  for (const [header, address] of Object.entries(rows)) {
    it(`X-10 X-Forwarded-For ${JSON.stringify(header)} is ${address}`, async () => {
      expect(await logged([['X-Forwarded-For', header]])).to.include({ remote_addr: address });
    });
  }

  const withPorts: Readonly<Record<string, string>> = {
    '203.0.113.5:51234': '203.0.113.5',
    '[2001:db8::1]:443': '2001:db8::1',
    '[2001:db8::1]': '2001:db8::1',
    '"[2001:db8::1]:443"': '2001:db8::1',
    '"6.6.6.6"': '6.6.6.6',
    '[fe80::1%eth0]:80': 'fe80::1',
    '6.6.6.6:1234, 10.1.2.3:80': '6.6.6.6',
    '[2001:db8::1]:443, [fd00::7]:80': '2001:db8::1',
    '[::ffff:6.6.6.6]:1': '6.6.6.6',
    '6.6.6.6:': '127.0.0.1',
    '6.6.6.6:123456': '127.0.0.1',
    '6.6.6.6:80:80': '127.0.0.1',
    '[2001:db8::1': '127.0.0.1',
    '[6.6.6.6]]:80': '127.0.0.1',
    '[]:80': '127.0.0.1',
    ':80': '127.0.0.1',
  };
  for (const [header, address] of Object.entries(withPorts)) {
    it(`R-12 X-Forwarded-For ${JSON.stringify(header)} is ${address}`, async () => {
      expect(await logged([['X-Forwarded-For', header]])).to.include({ remote_addr: address });
    });
  }

  it('R-12 a value that is no address is logged once', async () => {
    for (const header of ['unknown', 'evil', '6.6.6']) await logged([['X-Forwarded-For', header]]);
    expect(api.logLines.filter((line) => line.includes('X-Forwarded-For of a trusted proxy'))).to.have.length(1);
  });

  it('takes its request id, when it is one', async () => {
    expect(await logged([['X-Request-Id', 'id-of-the-proxy']])).to.include({ id: 'id-of-the-proxy' });
    for (const id of ['short', 'x'.repeat(65), 'with blank', 'a"quote-and-more', 'né-à-lyon']) {
      expect((await logged([['X-Request-Id', id]]))['id'], id).to.match(/^[0-9a-f]{12}-\w+$/);
    }
  });
});
