import { CoreV1Api } from '@kubernetes/client-node';
import { expect } from 'chai';
import { clusterConfig, createConnection } from '../../../../operator/kube/client/cluster-config.ts';
import { createKubeApi, type KubeCall } from '../../../../operator/kube/client/kube-api.ts';
import { list } from '../../../../operator/kube/client/list.ts';
import { collectionAt } from '../../../support/cluster/collection-at.ts';
import { controlPlane, type ControlPlane } from '../../../support/cluster/control-plane.ts';

describe('a list of large objects', () => {
  let plane: ControlPlane;
  before(async () => {
    plane = await controlPlane();
  });

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
      {
        onAnswer(request, status) {
          const limit = new URL(request.getUrl()).searchParams.get('limit');
          calls.push(`${limit ?? 'one'}: ${String(status)}`);
        },
      },
    );
    const { signal } = new AbortController();
    const readBox: KubeCall = (make) => make(CoreV1Api).readNamespace({ name: box });
    const how = { collection: collectionAt(path), pageSize: 100, labelSelector: 'boxgate.dev/client-secret=true' };
    const listing = list(api, how, (object) => JSON.stringify(object).length, signal);
    const others = Array.from({ length: 20 }, () => api.call(readBox, signal));
    expect(await Promise.all(others)).to.have.length(20);
    const { objects } = await listing;
    expect(objects).to.have.length(30);
    for (const length of objects) expect(length).to.be.greaterThan(1_000_000);
    expect(calls).to.include('100: 200').and.to.include('1: 200');
    expect(calls.filter((call) => !call.endsWith('200'))).to.deep.equal([]);
    await api.call(readBox, signal);
    await plane.call({ method: 'DELETE', path });
  });
});
