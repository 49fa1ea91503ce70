import { expect } from 'chai';
import type { RawReply } from '../raw-http.ts';
import { startRouteApi } from '../route-requests.ts';
import type { Change, RouteApi } from '../route-requests.ts';

/** Requests to each path; none of them changes the answer to the next one. */
const changes: Readonly<Record<string, Change>> = {
  'without credentials': { authorization: undefined },
  'with wrong credentials': { authorization: 'Basic eDp5' },
  'with a body that is none': { authorization: undefined, body: '{"', type: 'application/json' },
  'with too large a body': { authorization: undefined, body: 'x'.repeat(1_100_000) },
};

describe('a fixed path', () => {
  let api: RouteApi;

  before(async () => {
    api = await startRouteApi();
  });
  after(() => api.stop());

  for (const [what, change] of Object.entries(changes)) {
    it(`${what} is answered as express answers it, to which an empty query leads`, async () => {
      const fixed = api.requests.filter(({ name }) => !name.includes(':'));
      expect(fixed).to.have.length.greaterThan(8);
      for (const request of fixed) {
        // A form that a page takes counts once; without its cookie it is refused each time.
        const cookie = request.method === 'GET' ? request.cookie : undefined;
        const direct = await api.ask(request, { ...change, cookie, path: request.path });
        const byExpress = await api.ask(request, { ...change, cookie, path: `${request.path}?` });
        expect(comparable(direct), request.name).to.deep.equal(comparable(byExpress));
      }
    });
  }
});

/** An answer without what is another in each. */
function comparable({ status, headers, text, closed }: RawReply): object {
  const id = headers.get('x-request-id') ?? '';
  // The length too: the id has one more digit now and then.
  const same = [...headers].filter(([name]) => !['x-request-id', 'date', 'content-length'].includes(name));
  return { status, closed, headers: Object.fromEntries(same), text: text.replaceAll(id, '<id>') };
}
