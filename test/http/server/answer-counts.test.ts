import { expect } from 'chai';
import { Histogram, Registry } from 'prom-client';
import { createAnswerCounts } from '../../../api/http/server/answer-counts.ts';

const name = 'boxgate_http_request_duration_seconds';
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Returns the lines of a page, sorted. */
function linesOf(page: string): readonly string[] {
  return page
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

describe('the counts of answers', () => {
  it('are the histogram that the library of metrics makes of the same times, at each bound and beside it', async () => {
    const [counts, library] = [createAnswerCounts(new Registry()), new Registry()];
    const histogram = new Histogram({
      ...{ name, help: 'Time to answer a request, in seconds.', labelNames: ['route'] },
      ...{ buckets, registers: [library] },
    });
    for (const route of ['/auth/token', '/Client/:id']) {
      for (const bound of [0, ...buckets]) {
        for (const seconds of [bound, bound + 2 ** -20, bound * 2, 60]) {
          counts.add('GET', route, 200, seconds);
          histogram.observe({ route }, seconds);
        }
      }
    }
    expect(linesOf(counts.histogram())).to.deep.equal(linesOf(await library.metrics()));
  });

  it('are the same on each page until there is another answer', async () => {
    const registry = new Registry();
    const counts = createAnswerCounts(registry);
    const page = async (): Promise<readonly string[]> =>
      linesOf(await registry.metrics()).filter((line) => !line.startsWith('#'));
    counts.add('GET', '/Client', 200, 0.1);
    counts.add('PUT', '/Client', 200, 0.1);
    counts.add('GET', '/Client', 404, 0.1);
    const first = await page();
    expect(first).to.deep.equal([
      'boxgate_http_requests_total{method="GET",route="/Client",status="200"} 1',
      'boxgate_http_requests_total{method="GET",route="/Client",status="404"} 1',
      'boxgate_http_requests_total{method="PUT",route="/Client",status="200"} 1',
    ]);
    expect(await page()).to.deep.equal(first);
    counts.add('GET', '/Client', 404, 0.1);
    expect(await page()).to.include('boxgate_http_requests_total{method="GET",route="/Client",status="404"} 2');
  });
});
