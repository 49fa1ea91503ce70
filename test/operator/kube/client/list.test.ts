import { expect } from 'chai';
import { list } from '../../../../operator/kube/client/list.ts';
import { startScriptedApiServer, type ScriptedApiServer } from '../../../support/cluster/scripted-api-server.ts';
import { apiOf } from '../things.ts';

describe('a list of objects', () => {
  let server: ScriptedApiServer;
  let pauses: number;
  beforeEach(async () => {
    server = await startScriptedApiServer();
    pauses = 0;
  });
  afterEach(() => server.close());

  /** Lists objects in pages of 8, which count as so many characters each; returns the limits that were requested. */
  async function limits(length: number): Promise<readonly (string | null)[]> {
    const collection = {
      path: '/apis/boxgate.dev/v1/things',
      pageSize: 8,
      lengthOf: () => length,
      sleep: async () => void (pauses += 1),
    };
    const { objects } = await list(apiOf(server), collection, (object) => object, new AbortController().signal);
    expect(objects).to.have.length(20);
    return server.requests.map(({ query }) => query.get('limit'));
  }

  it('R-53 goes on in shorter pages after a long one, and pauses after it', async () => {
    for (let nth = 0; nth < 20; nth += 1) server.put(`thing-${String(nth)}`);
    expect(await limits(750_000)).to.deep.equal(['8', '2', '2', '2', '2', '2', '2']);
    expect(pauses).to.equal(1);
  });

  it('R-53 asks for one object at least', async () => {
    for (let nth = 0; nth < 20; nth += 1) server.put(`thing-${String(nth)}`);
    expect(await limits(3_000_000)).to.deep.equal(['8', ...Array.from({ length: 12 }, () => '1')]);
    expect(pauses).to.equal(12);
  });

  it('gives a page up that is too large, and goes on in shorter ones, until every object is there', async () => {
    for (let nth = 0; nth < 20; nth += 1) server.put(`thing-${String(nth)}`, nth < 8 ? 'small' : 'x'.repeat(1_400_000));
    expect(await limits(0)).to.deep.equal(['8', '8', '2', '4', '8', '2', '4']);
  });

  it('has full pages and no pause where objects are small', async () => {
    for (let nth = 0; nth < 20; nth += 1) server.put(`thing-${String(nth)}`);
    expect(await limits(60_000)).to.deep.equal(['8', '8', '8']);
    expect(pauses).to.equal(0);
  });
});
