import { expect } from 'chai';
import { createMetrics } from '../../../api/http/server/metrics.ts';
import type { ResourceUse } from '../../../api/shares/resource-use.ts';
import { startRouteApi } from '../route-requests.ts';
import type { RouteApi } from '../route-requests.ts';

/** The samples of a page whose name begins so, without those of other names. */
function samples(page: string, name: string): string[] {
  return page.split('\n').filter((line) => line.startsWith(name));
}

/** Gauges of a replica that serves, and in which nothing has happened. */
const nothing = {
  ready: () => Promise.resolve(),
  databases: () => Promise.resolve(new Map()),
  certificateEnds: () => Promise.resolve(new Map<string, number>()),
  boxesInMemory: () => 0,
  secretsWaiting: () => 0,
  policyFailures: () => 0,
  auditEventsDropped: () => 0,
};

describe('metrics', () => {
  it('count answers by method, route and status, and measure them by route', async () => {
    const metrics = createMetrics({ ...nothing, boxesInMemory: () => 3, secretsWaiting: () => 2 }, []);
    metrics.answered('GET', '/Client', 200, 0.002);
    metrics.answered('GET', '/Client', 200, 0.2);
    metrics.answered('GET', '/Client', 401, 0.001);
    const { contentType, text } = await metrics.page();
    expect(contentType).to.match(/^text\/plain; version=0\.0\.4/);
    expect(samples(text, 'boxgate_http_requests_total')).to.deep.equal([
      'boxgate_http_requests_total{method="GET",route="/Client",status="200"} 2',
      'boxgate_http_requests_total{method="GET",route="/Client",status="401"} 1',
    ]);
    expect(text).to.contain('boxgate_http_request_duration_seconds_count{route="/Client"} 3');
    expect(text).to.contain('boxgate_http_request_duration_seconds_bucket{le="0.0025",route="/Client"} 2');
    expect(text)
      .to.match(/^boxgate_boxes_in_memory 3$/m)
      .and.match(/^boxgate_argon2_waiting 2$/m);
  });

  it('tell the use of what boxes share, and the refusals, by resource and box', async () => {
    const share: ResourceUse = {
      resource: 'connections',
      uses: () => [{ box: 'shop', used: 2, waiting: 5 }],
      refusals: () => new Map([['shop', 3]]),
    };
    const metrics = createMetrics(nothing, [share]);
    await metrics.page();
    const { text } = await metrics.page();
    expect(samples(text, 'boxgate_share_')).to.deep.equal([
      'boxgate_share_used{resource="connections",box="shop"} 2',
      'boxgate_share_waiting{resource="connections",box="shop"} 5',
      'boxgate_share_refused_total{resource="connections",box="shop"} 3',
    ]);
  });

  it('of two in one process do not meet', async () => {
    const [one, other] = [createMetrics(nothing, []), createMetrics(nothing, [])];
    one.answered('GET', '/x', 200, 1);
    expect((await other.page()).text).not.to.contain('route="/x"');
  });

  describe('of the API', () => {
    let api: RouteApi;

    before(async () => {
      api = await startRouteApi();
    });
    after(() => api.stop());

    it('have no label that a request can make up', async () => {
      for (const request of api.requests) await api.ask(request);
      for (const path of ['/canary-1', '/Client/canary-2', '/Client?canary-3=1', '/canary%0a4']) {
        for (const method of ['GET', 'PROPFIND', 'DELETE']) await api.send({ method, target: `/boxes/default${path}` });
        await api.send({ method: 'GET', target: `/boxes/canary-box${path}`, headers: [['Host', 'canary-host']] });
      }
      await api.send({ method: 'CANARY', target: '/' });
      const response = await fetch(`${api.managementUrl}/metrics`);
      const page = await response.text();
      expect(response.headers.get('content-type')).to.match(/^text\/plain/);
      expect(page).not.to.match(/canary/i);
      const routes = new Set(
        samples(page, 'boxgate_http_requests_total').map((line) => /route="([^"]+)"/.exec(line)?.[1]),
      );
      const known = api.requests.map(({ name }) => name.split(' ')[1]);
      expect([...routes]).to.have.members([...new Set(known), '(none)', '(broken)']);
      expect(page)
        .to.match(/^boxgate_boxes_in_memory [1-9]$/m)
        .and.match(/^boxgate_process_resident_memory_bytes \d+$/m);
    });
  });
});
