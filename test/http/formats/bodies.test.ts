import { expect } from 'chai';
import { startBoxApi } from '../resources/box-api.ts';
import type { BoxApi } from '../resources/box-api.ts';

describe('bodies over REST', () => {
  let api: BoxApi;

  before(async () => {
    api = await startBoxApi();
  });
  after(() => api.stop());

  describe('bodies', () => {
    const cases: readonly (readonly [string, string | Buffer, string, number])[] = [
      ['X-03 malformed JSON', '{"grant_types":', 'application/json', 400],
      ['X-03 an array', '[]', 'application/json', 400],
      ['X-03 null', 'null', 'application/json', 400],
      ['X-03 a million levels', '['.repeat(1_000_000), 'application/json', 400],
      ['X-04 another type', 'x', 'text/plain', 415],
      ['X-04 utf-7', '{}', 'application/json; charset=utf-7', 415],
      ['X-05 too large', `{"name":"${'x'.repeat(1_048_576)}"}`, 'application/json', 413],
      ['X-07 a prototype', '{"__proto__":{"polluted":1}}', 'application/json', 422],
      ['X-07 a prototype in YAML', '__proto__: {polluted: 1}', 'application/yaml', 422],
      ['X-08 bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'application/json', 400],
      ['X-08 NUL', '{"name":"\\u0000","grant_types":["implicit"]}', 'application/json', 422],
      ['X-08 half a surrogate pair', '{"name":"\\ud800","grant_types":["implicit"]}', 'application/json', 422],
      ['C-05 an alias bomb', 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]', 'application/yaml', 422],
      ['C-05 depth', `a: ${'['.repeat(10_000)}`, 'application/yaml', 400],
      ['C-05 a function', 'name: !!js/function "x"', 'application/yaml', 422],
    ];
    for (const [title, body, type, status] of cases) {
      it(`${title}: ${String(status)}, and the next request is answered`, async () => {
        const reply = await api.call('PUT', '/Client/bodies', { body, type });
        expect([reply.status, reply.headers.get('content-type')]).to.deep.equal([
          status,
          'application/json; charset=utf-8',
        ]);
        expect(reply.body).to.include({ resourceType: 'OperationOutcome' });
        expect((await api.call('GET', '/Client/bodies')).status).to.equal(404);
      });
    }

    it('are told to be bad only to those who may send them', async () => {
      expect((await api.call('PUT', '/Client/bodies', { body: '{', token: null })).status).to.equal(401);
    });
  });
});
