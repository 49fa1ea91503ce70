import { expect } from 'chai';
import { clusterConfig, createConnection } from '../../../../operator/kube/client/cluster-config.ts';
import { createKubeApi } from '../../../../operator/kube/client/kube-api.ts';
import { list } from '../../../../operator/kube/client/list.ts';
import { startControlPlane, type ControlPlane } from '../../../support/cluster/control-plane.ts';

describe('a list of large objects', () => {
  let plane: ControlPlane;
  before(async () => {
    plane = await startControlPlane();
  });
  after(() => plane.stop());

  it('F-30 of a real API server is read in pages that fit, and other calls go on beside it', async () => {
    const box = await plane.namespace('large');
    const path = `/api/v1/namespaces/${box}/secrets`;
    const labels = { 'boxgate.dev/client-secret': 'true' };
    for (let nth = 0; nth < 30; nth += 1) {
      const metadata = { name: `secret-${String(nth)}`, labels };
      const { status } = await plane.call({
        method: 'POST',
        path,
        body: { metadata, stringData: { text: 'x'.repeat(1_000_000) } },
      });
      expect(status).to.equal(201);
    }
    const calls: string[] = [];
    const api = createKubeApi(
      createConnection(() => clusterConfig({ kubeconfig: plane.kubeconfig })),
      { onAnswer: ({ query }, status) => calls.push(`${query?.['limit'] ?? 'one'}: ${String(status)}`) },
    );
    const { signal } = new AbortController();
    const collection = { path, pageSize: 100, labelSelector: 'boxgate.dev/client-secret=true' };
    const listing = list(api, collection, (object) => JSON.stringify(object).length, signal);
    const others = Array.from({ length: 20 }, () => api.call({ path: `/api/v1/namespaces/${box}` }, signal));
    expect(await Promise.all(others)).to.have.length(20);
    const { objects } = await listing;
    expect(objects).to.have.length(30);
    for (const length of objects) expect(length).to.be.greaterThan(1_000_000);
    expect(calls).to.include('100: 200').and.to.include('6: 200');
    expect(calls.filter((call) => !call.endsWith('200'))).to.deep.equal([]);
    await api.call({ path: `/api/v1/namespaces/${box}` }, signal);
  });
});
