import { expect } from 'chai';
import { list } from '../../../../operator/kube/client/list.ts';
import { collectionAt } from '../../../support/cluster/collection-at.ts';
import { startScriptedApiServer, type ScriptedApiServer } from '../../../support/cluster/scripted-api-server.ts';
import { apiOf } from '../things.ts';

describe('a list of objects', () => {
  let server: ScriptedApiServer;
  beforeEach(async () => {
    server = await startScriptedApiServer();
  });
  afterEach(() => server.close());

  /** Lists objects in pages of 8; returns the limits that were requested. */
  async function limits(): Promise<readonly (string | null)[]> {
    const how = { collection: collectionAt('/apis/boxgate.dev/v1/things'), pageSize: 8 };
    const { objects } = await list(apiOf(server), how, (object) => object, new AbortController().signal);
    expect(objects).to.have.length(20);
    return server.requests.map(({ query }) => query.get('limit'));
  }

  it('gives a page up that is too large, and goes on in shorter ones, until every object is there', async () => {
    for (let nth = 0; nth < 20; nth += 1) server.put(`thing-${String(nth)}`, nth < 8 ? 'small' : 'x'.repeat(1_400_000));
    const four = ['1', '1', '1', '1'];
    expect(await limits()).to.deep.equal(['8', '8', '2', ...four, '2', ...four, '2', ...four]);
  });

  it('has full pages where objects are small', async () => {
    for (let nth = 0; nth < 20; nth += 1) server.put(`thing-${String(nth)}`);
    expect(await limits()).to.deep.equal(['8', '8', '8']);
  });
});
