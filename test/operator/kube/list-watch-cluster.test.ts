import { expect } from 'chai';
import { clusterConfig, createConnection } from '../../../operator/kube/client/cluster-config.ts';
import { createKubeApi, type KubeApi } from '../../../operator/kube/client/kube-api.ts';
import { controlPlane, type ControlPlane } from '../../support/cluster/control-plane.ts';
import { installCrds } from '../../support/cluster/install-crds.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedCalls, sentCall, type SentCall } from './recorded-calls.ts';
import { sorts, watchThings, type ThingWatch } from './things.ts';

const clients = '/apis/boxgate.dev/v1/clients';

/** Calls as whoever a kubeconfig is for, what was called, and what of it that is no watch was answered. */
function apiWith(kubeconfig: string, timeout?: number): { api: KubeApi; calls: SentCall[]; answered: SentCall[] } {
  const calls: SentCall[] = [];
  const answered: SentCall[] = [];
  const connection = createConnection(() => clusterConfig({ kubeconfig }));
  const real = recordedCalls(createKubeApi(connection, { timeout }), calls);
  const api: KubeApi = {
    ...real,
    async call(call, signal, options) {
      const answer = await real.call(call, signal, options);
      answered.push(await sentCall(call, options));
      return answer;
    },
  };
  return { api, calls, answered };
}

function isWatch({ query }: SentCall): boolean {
  return query['watch'] === 'true';
}

/** Returns an admin's calls for the clients of a namespace. */
function admin(plane: ControlPlane, namespace: string) {
  const path = `/apis/boxgate.dev/v1/namespaces/${namespace}/clients`;
  const body = (name: string, value: string): object => ({
    apiVersion: 'boxgate.dev/v1',
    kind: 'Client',
    metadata: { name },
    spec: { grant_types: ['client_credentials'], name: value },
  });
  const expectDone = async (work: ReturnType<ControlPlane['call']>): Promise<void> => {
    const { status, body: said } = await work;
    if (status > 299) throw new Error(JSON.stringify(said));
  };
  return {
    put: (name: string, value: string) =>
      expectDone(
        plane.call({
          method: 'PATCH',
          path: `${path}/${name}?fieldManager=admin&force=true`,
          contentType: 'application/apply-patch+yaml',
          body: body(name, value),
        }),
      ),
    remove: (name: string) => expectDone(plane.call({ method: 'DELETE', path: `${path}/${name}` })),
  };
}

function valueIn(things: ThingWatch, namespace: string, name: string): string | undefined {
  return things.store.get(namespace, name)?.value;
}

describe('a list-watch over a real API server', () => {
  let watching: ThingWatch | undefined;
  afterEach(async () => {
    await watching?.stop();
    watching = undefined;
  });

  describe('that stays', () => {
    let plane: ControlPlane;
    let namespace: string;
    before(async () => {
      plane = await controlPlane();
      await installCrds(plane);
      namespace = await plane.namespace('watch');
    });

    /** Lets a new ServiceAccount list and watch clients; the path of its binding, and its kubeconfig. */
    async function reader(): Promise<{ kubeconfig: string; binding: string; bind: () => Promise<unknown> }> {
      const rbac = '/apis/rbac.authorization.k8s.io/v1';
      const name = `${namespace}-reader`;
      const post = (path: string, body: object): Promise<unknown> => plane.call({ method: 'POST', path, body });
      await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
      const rules = [{ apiGroups: ['boxgate.dev'], resources: ['clients'], verbs: ['list', 'watch'] }];
      await post(`${rbac}/clusterroles`, { metadata: { name }, rules });
      const bind = (): Promise<unknown> =>
        post(`${rbac}/clusterrolebindings`, {
          metadata: { name },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
          subjects: [{ kind: 'ServiceAccount', name, namespace }],
        });
      await bind();
      const { kubeconfig } = await plane.accountFor(namespace, name);
      return { kubeconfig, binding: `${rbac}/clusterrolebindings/${name}`, bind };
    }

    it('F-12: hears of every namespace with two verbs, and goes on when they were taken and given back', async () => {
      const { kubeconfig, binding, bind } = await reader();
      const other = await plane.namespace('watch');
      await admin(plane, namespace).put('one', 'a');
      const { api } = apiWith(kubeconfig);
      const things = watchThings(api, { watchSeconds: 1 }, undefined, { path: clients });
      watching = things;
      await things.synced;
      await admin(plane, other).put('two', 'b');
      await eventually('it heard of both', () => valueIn(things, other, 'two') === 'b');
      expect(valueIn(things, namespace, 'one')).to.equal('a');
      // Before the API server had heard of the binding it may have been refused too.
      const before = things.failures.length;
      await plane.call({ method: 'DELETE', path: binding });
      await eventually('it is refused', () => sorts(things).slice(before).includes('forbidden'));
      await admin(plane, namespace).remove('one');
      expect(valueIn(things, namespace, 'one')).to.equal('a');
      await bind();
      await eventually('it heard that it is gone', () => valueIn(things, namespace, 'one') === undefined);
      expect(new Set(sorts(things))).to.deep.equal(new Set(['forbidden']));
    });

    it('rows 7 and 8: gets a bookmark before the end of each watch, and never lists a quiet kind again', async () => {
      const { api, calls } = apiWith(plane.kubeconfig);
      const boxes = '/apis/boxgate.dev/v1/boxes';
      const things = watchThings(api, { watchSeconds: 3 }, undefined, { path: boxes });
      watching = things;
      await things.synced;
      const since = (): number[] => calls.filter(isWatch).map(({ query }) => Number(query['resourceVersion']));
      // What is written elsewhere makes the version of everything rise.
      await eventually('a watch goes on from a later version', async () => {
        await admin(plane, namespace).put('churn', String(Math.random()));
        return since().length > 1 && Number(since().at(-1)) > Number(since()[0]);
      });
      expect(calls.filter((call) => !isWatch(call))).to.have.length(1);
      expect(things.failures).to.deep.equal([]);
    });
  });

  describe('that goes away', () => {
    let plane: ControlPlane;
    before(async () => {
      plane = await controlPlane();
      await installCrds(plane);
    });

    it('F-01: goes on where it was when the API server is back', async () => {
      const namespace = await plane.namespace('watch');
      await admin(plane, namespace).put('one', 'a');
      const { api, answered } = apiWith(plane.kubeconfig, 2_000);
      const things = watchThings(api, {}, undefined, { path: clients });
      watching = things;
      await things.synced;
      await plane.signal('SIGKILL');
      await eventually('it noticed', () => things.failures.length > 0);
      await plane.restart();
      await admin(plane, namespace).put('two', 'b');
      await eventually('it heard of it', () => valueIn(things, namespace, 'two') === 'b');
      expect(valueIn(things, namespace, 'one')).to.equal('a');
      // The version it had may be too old for the new server: then it lists, once.
      expect(sorts(things).filter((sort) => sort !== 'unavailable')).to.have.length.at.most(1);
      expect(answered).to.have.length.at.most(2);
    });

    it('F-02: notices a frozen API server, and goes on when it thaws', async () => {
      const namespace = await plane.namespace('watch');
      const { api } = apiWith(plane.kubeconfig, 500);
      const things = watchThings(api, { silence: 500 }, undefined, { path: clients });
      watching = things;
      await things.synced;
      await plane.signal('SIGSTOP');
      const before = things.failures.length;
      await eventually('its watch is silent, and no other one begins', () => things.failures.length > before + 1);
      await plane.signal('SIGCONT');
      await admin(plane, namespace).put('thawed', 'x');
      await eventually('it heard of it', () => valueIn(things, namespace, 'thawed') === 'x');
    });

    it('F-05: lists once when what it missed is no longer told', async () => {
      const namespace = await plane.namespace('watch');
      await admin(plane, namespace).put('goes', 'a');
      let opened: (() => void) | undefined;
      const gate = (): Promise<void> => new Promise((resolve) => (opened = resolve));
      const { api, answered } = apiWith(plane.kubeconfig);
      const things = watchThings(api, {}, undefined, { path: clients, sleep: gate });
      watching = things;
      await things.synced;
      // Its watch ends, and it waits. Then things change, and a new API server knows only how they are.
      await plane.signal('SIGKILL');
      await eventually('it waits', () => opened !== undefined);
      await plane.restart();
      await admin(plane, namespace).remove('goes');
      await admin(plane, namespace).put('comes', 'b');
      await plane.signal('SIGKILL');
      await plane.restart();
      const lists = answered.length;
      // Until its storage is ready the server wants to be left alone.
      await eventually('its version is too old', () => {
        if (sorts(things).includes('expired')) return true;
        opened?.();
        return false;
      });
      expect(valueIn(things, namespace, 'goes')).to.equal('a');
      await eventually('it found what it had missed', () => {
        opened?.();
        return valueIn(things, namespace, 'comes') === 'b';
      });
      expect(valueIn(things, namespace, 'goes')).to.equal(undefined);
      expect(answered).to.have.length(lists + 1);
      opened?.();
    });
  });
});
