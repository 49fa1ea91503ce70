import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { createSecretKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManagement, type Management } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import { isRecord } from '../../../crds/schema-node.ts';
import { createClusterSecrets } from '../../../operator/kube/cluster-secrets.ts';
import { createClusterSource } from '../../../operator/kube/cluster-source.ts';
import { createConnection } from '../../../operator/kube/connection.ts';
import { createKubeApi, type KubeApi, type KubeCall } from '../../../operator/kube/kube-api.ts';
import { KubeError } from '../../../operator/kube/kube-error.ts';
import { defaultTimes } from '../../../operator/kube/list-watch.ts';
import { startReconciler, type Reconciler } from '../../../operator/reconciler.ts';
import { controlPlane, type ControlPlane } from '../../envtest/control-plane.ts';
import { installCrds, kubectl } from '../../envtest/install-crds.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryKeeper } from '../memory-source.ts';
import { recordedEvents } from '../recorded-events.ts';

const plurals = { Client: 'clients', AccessPolicy: 'accesspolicies', Box: 'boxes' } as const;
type Kind = keyof typeof plurals;

/** An object of a cluster, as far as the tests look at it. */
interface Found {
  readonly uid: string;
  readonly observedGeneration: unknown;
  readonly conditions: readonly Record<string, unknown>[];
  readonly status: Record<string, unknown>;
}

describe('a cluster as a source', () => {
  let plane: ControlPlane;
  let api: TestApi;
  let kubeconfig: string;
  let management: Management;
  before(async function () {
    this.timeout(90_000);
    [plane, api] = await Promise.all([controlPlane(), startApi()]);
    await installCrds(plane);
    kubeconfig = await operatorKubeconfig(plane);
    management = createManagement({ url: api.managementUrl, key: new Secret(api.managementKey) });
  });
  after(() => api.stop());

  let reconciler: Reconciler | undefined;
  let box: string;
  let calls: KubeCall[];
  let failures: unknown[];
  /** What happens between a call's making and its sending. */
  let meanwhile: (call: KubeCall) => Promise<void>;
  beforeEach(async () => {
    box = await plane.namespace('box');
    [calls, failures, meanwhile] = [[], [], async () => undefined];
  });
  afterEach(async () => {
    await stop();
    for (const kind of ['Client', 'AccessPolicy', 'Box'] as const) {
      await plane.call({ method: 'DELETE', path: at(kind) });
    }
  });

  async function stop(): Promise<void> {
    await reconciler?.stop();
    reconciler = undefined;
  }

  async function start(): Promise<void> {
    const real = createKubeApi(
      createConnection(() => {
        const config = new KubeConfig();
        config.loadFromFile(kubeconfig);
        return config;
      }),
      undefined,
      (call) => calls.push(call),
    );
    const kube: KubeApi = {
      ...real,
      async call(call, signal) {
        await meanwhile(call);
        return real.call(call, signal);
      },
    };
    const options = {
      api: kube,
      times: defaultTimes,
      random: Math.random,
      now: () => performance.now(),
      sleep: (wait: number, signal: AbortSignal) => sleep(wait, undefined, { signal }).catch(() => undefined),
      onFailure: (error: unknown) => void failures.push(error),
    };
    const { secrets } = createClusterSecrets(options, 'boxgate-system:boxgate', recordedEvents());
    const source = createClusterSource({ ...options, secrets });
    reconciler = startReconciler({
      source,
      keeper: memoryKeeper(),
      management,
      cluster: `cluster-${box}`,
      digestKey: createSecretKey(Buffer.alloc(32, 3)),
      defaultIssuer: (name) => `${api.url}/boxes/${name}`,
      now: () => new Date(),
      random: () => 0.5,
      schedule(wait, callback) {
        const timer = setTimeout(callback, wait);
        return () => clearTimeout(timer);
      },
      sweepPeriod: 600_000,
      events: recordedEvents(),
      onProgress: () => undefined,
      onFailure: (_box, error) => failures.push(error),
    });
    await reconciler.firstRound;
  }

  const at = (kind: Kind, name = '', namespace = box): string =>
    `/apis/boxgate.dev/v1/namespaces/${namespace}/${plurals[kind]}${name === '' ? '' : `/${name}`}`;

  async function put(kind: Kind, name: string, spec: object, namespace = box): Promise<void> {
    const path = `${at(kind, name, namespace)}?fieldManager=admin&force=true`;
    const body = { apiVersion: 'boxgate.dev/v1', kind, metadata: { name }, spec };
    const answer = await plane.call({ method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml' });
    if (answer.status > 299) throw new Error(JSON.stringify(answer.body));
  }

  async function find(kind: Kind, name: string): Promise<Found> {
    const { body } = await plane.call({ path: at(kind, name) });
    const { metadata, status = {} } = isRecord(body) ? body : {};
    if (!isRecord(metadata) || !isRecord(status)) throw new Error(`no ${name}: ${JSON.stringify(body)}`);
    const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isRecord) : [];
    return { uid: String(metadata['uid']), observedGeneration: status['observedGeneration'], conditions, status };
  }

  async function condition(kind: Kind, name: string, type = 'Ready'): Promise<string> {
    const found = (await find(kind, name)).conditions.find((one) => one['type'] === type);
    return `${String(found?.['status'])}/${String(found?.['reason'])}`;
  }

  const ready = (kind: Kind, name: string): Promise<void> =>
    eventually(`${name} is Ready`, async () => (await condition(kind, name)) === 'True/Ready');

  async function token(id: string, secret: string): Promise<number> {
    const answer = await fetch(`${api.url}/boxes/${box}/auth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'client_credentials', client_id: id, client_secret: secret }),
    });
    return answer.status;
  }

  const machine = (secret: string): object => ({ grant_types: ['client_credentials'], secret });
  const writes = (): KubeCall[] => calls.filter(({ method }) => method !== undefined && method !== 'GET');

  it('makes a client of an applied object, says Ready, and ends it with the object', async function () {
    this.timeout(60_000);
    await start();
    await put('Client', 'app', machine('s3cret-of-app'));
    await ready('Client', 'app');
    expect(await token('app', 's3cret-of-app')).to.equal(200);
    expect((await find('Client', 'app')).status).to.deep.include({
      observedGeneration: 1,
      id: 'app',
      grants: 'client_credentials',
      secret: 'inline',
      policies: 0,
    });
    await put('Client', 'app', machine('another-secret'));
    await eventually('the new secret works', async () => (await token('app', 'another-secret')) === 200);
    expect(await token('app', 's3cret-of-app')).to.equal(401);
    await plane.call({ method: 'DELETE', path: at('Client', 'app') });
    await eventually('it is refused', async () => (await token('app', 'another-secret')) === 401);
    expect(failures).to.deep.equal([]);
  });

  it('shows what people look at: columns, policies that link clients, the box', async function () {
    this.timeout(60_000);
    await put('AccessPolicy', 'readers', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    await put('Client', 'app', machine('s3cret'));
    await put('Box', 'box', {});
    await start();
    for (const [kind, name] of [
      ['Client', 'app'],
      ['AccessPolicy', 'readers'],
      ['Box', 'box'],
    ] as const) {
      await ready(kind, name);
    }
    const text = await kubectl(plane, 'get', 'clients,accesspolicies,boxes', '--namespace', box);
    expect(text).to.match(/client\.boxgate\.dev\/app +app +client_credentials +inline +1 +True/);
    expect(text).to.match(/accesspolicy\.boxgate\.dev\/readers +allow +1 +True/);
    expect(text).to.match(/box\.boxgate\.dev\/box +http\S+ +1 +1 +0 +True/);
    const headings = async (kinds: string, ...more: readonly string[]): Promise<string[]> => {
      const printed = await kubectl(plane, 'get', kinds, '--namespace', box, ...more);
      return (printed.split('\n')[0] ?? '').trim().split(/ +/);
    };
    const client = ['NAME', 'ID', 'GRANTS', 'SECRET', 'POLICIES', 'READY', 'AGE'];
    expect(await headings('clients')).to.deep.equal(client);
    expect(await headings('clients', '-o', 'wide')).to.deep.equal([...client, 'LAST-TOKEN', 'SESSIONS']);
    expect(await headings('accesspolicies')).to.deep.equal(['NAME', 'ENGINE', 'SUBJECTS', 'READY', 'AGE']);
    expect(await headings('boxes')).to.deep.equal(['NAME', 'ISSUER', 'CLIENTS', 'POLICIES', 'USERS', 'READY', 'AGE']);
    expect(await kubectl(plane, 'wait', '--for=condition=Ready', 'client/app', '--namespace', box)).to.contain('met');
  });

  it('says Valid=False of what no definition can refuse, and grants nothing', async () => {
    await start();
    await put('AccessPolicy', 'broken', { engine: 'cel', expression: 'uri ==' });
    await eventually(
      'it says so',
      async () => (await condition('AccessPolicy', 'broken', 'Valid')) === 'False/Invalid',
    );
    expect(await condition('AccessPolicy', 'broken')).to.equal('False/Invalid');
  });

  it('I6: writes nothing where the statuses say it all, also after a restart', async () => {
    await put('Client', 'app', machine('s3cret'));
    await start();
    await ready('Client', 'app');
    const before = await find('Client', 'app');
    await stop();
    calls = [];
    await start();
    await put('Client', 'other', machine('s3cret'));
    await ready('Client', 'other');
    expect(await find('Client', 'app')).to.deep.equal(before);
    expect(writes().filter(({ path }) => path.startsWith(at('Client', 'app')))).to.deep.equal([]);
  });

  it('F-29: writes nothing while somebody else writes metadata and conditions of an object ten times a second', async function () {
    this.timeout(60_000);
    await start();
    await put('Client', 'app', machine('s3cret'));
    await ready('Client', 'app');
    calls = [];
    const merge = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const;
    const apply = { method: 'PATCH', contentType: 'application/apply-patch+yaml' } as const;
    for (let nth = 0; nth < 30; nth += 1) {
      const [text, status] = [String(nth), nth % 2 === 0 ? 'True' : 'False'];
      const metadata = { annotations: { 'example.com/nth': text }, labels: { nth: text } };
      await plane.call({ ...merge, path: at('Client', 'app'), body: { metadata } });
      const lastTransitionTime = new Date().toISOString();
      const condition = { type: 'example.com/Checked', status, reason: 'Checked', message: text, lastTransitionTime };
      const body = { apiVersion: 'boxgate.dev/v1', kind: 'Client', status: { conditions: [condition] } };
      await plane.call({ ...apply, path: `${at('Client', 'app')}/status?fieldManager=other&force=true`, body });
      await sleep(100);
    }
    await put('Client', 'last', machine('s3cret'));
    await ready('Client', 'last');
    expect(writes().filter(({ path }) => path.startsWith(at('Client', 'app')))).to.deep.equal([]);
    expect((await find('Client', 'app')).conditions.map(({ type }) => type)).to.include.members([
      'Ready',
      'example.com/Checked',
    ]);
  });

  it('gives a condition that did not flip the time it had', async () => {
    await put('Client', 'app', machine('s3cret'));
    await start();
    await ready('Client', 'app');
    const timeOf = async (type: string): Promise<unknown> =>
      (await find('Client', 'app')).conditions.find((one) => one['type'] === type)?.['lastTransitionTime'];
    const before = await timeOf('Ready');
    await stop();
    await put('AccessPolicy', 'readers', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    await start();
    await eventually(
      'it is granted',
      async () => (await condition('Client', 'app', 'Granted')) === 'True/PolicyLinked',
    );
    expect(await timeOf('Ready')).to.equal(before);
  });

  it('F-11: computes a status again over an object that changed meanwhile, and keeps what others wrote', async () => {
    await start();
    let left = 2;
    meanwhile = async ({ method, path }) => {
      if (method !== 'PATCH' || !path.startsWith(at('Client', 'app')) || left === 0) return;
      left -= 1;
      const annotations = { [`example.com/${String(left)}`]: 'x' };
      const body = { metadata: { annotations } };
      await plane.call({
        method: 'PATCH',
        path: at('Client', 'app'),
        body,
        contentType: 'application/merge-patch+json',
      });
    };
    await put('Client', 'app', machine('s3cret'));
    await ready('Client', 'app');
    expect(left).to.equal(0);
    const { body } = await plane.call({ path: at('Client', 'app') });
    expect(body).to.have.nested.property('metadata.annotations').with.keys('example.com/0', 'example.com/1');
    expect(failures).to.deep.equal([]);
  });

  it('does not give the status of an object to another one of its name', async () => {
    await start();
    let isDone = false;
    meanwhile = async ({ method, path }) => {
      if (method !== 'PATCH' || !path.startsWith(at('Client', 'app')) || isDone) return;
      isDone = true;
      await plane.call({ method: 'DELETE', path: at('Client', 'app') });
      await put('Client', 'app', { grant_types: ['client_credentials'], secret: 'of-the-second', suspend: true });
    };
    await put('Client', 'app', machine('of-the-first'));
    await eventually(
      'the second one is suspended',
      async () => (await condition('Client', 'app')) === 'Unknown/Suspended',
    );
  });

  it('F-10: removes nothing that a live look does not confirm, and looks again', async function () {
    this.timeout(60_000);
    await start();
    await put('Client', 'app', machine('s3cret'));
    await ready('Client', 'app');
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/boxgate-declared';
    const allow = async (...verbs: readonly string[]): Promise<void> => {
      const body = { rules: readRules.map((rule) => ({ ...rule, verbs })) };
      await plane.call({ method: 'PATCH', path: role, body, contentType: 'application/merge-patch+json' });
    };
    await allow('list', 'watch');
    await plane.call({ method: 'DELETE', path: at('Client', 'app') });
    await eventually('the look is refused', () => failures.length > 0);
    expect(String(failures[0])).to.contain('cannot get resource "clients"');
    expect(await token('app', 's3cret')).to.equal(200);
    await allow('get', 'list', 'watch');
    await reconciler?.sweep();
    await eventually('it is refused', async () => (await token('app', 's3cret')) === 401);
  });

  it('looks again soon where a live look got no answer', async () => {
    await start();
    await put('Client', 'app', machine('s3cret'));
    await ready('Client', 'app');
    let left = 2;
    meanwhile = async ({ method, path }) => {
      if (method !== undefined || path !== at('Client', 'app') || left === 0) return;
      left -= 1;
      throw new KubeError('unavailable', 'the cluster is away');
    };
    await plane.call({ method: 'DELETE', path: at('Client', 'app') });
    await eventually('it is refused', async () => (await token('app', 's3cret')) === 401);
    expect(left).to.equal(0);
  });

  it('takes an object that somebody still holds back for gone once its deletion was asked for', async () => {
    await put('Client', 'app', machine('s3cret'));
    const held = { metadata: { finalizers: ['example.com/hold'] } };
    const merge = { method: 'PATCH', path: at('Client', 'app'), contentType: 'application/merge-patch+json' } as const;
    await plane.call({ ...merge, body: held });
    await start();
    await ready('Client', 'app');
    await plane.call({ method: 'DELETE', path: at('Client', 'app') });
    await eventually('it is refused', async () => (await token('app', 's3cret')) === 401);
    await plane.call({ ...merge, body: { metadata: { finalizers: [] } } });
  });

  it('tries again for ever what could not be written, and never takes it for done', async function () {
    this.timeout(60_000);
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/boxgate-statuses';
    await plane.call({ method: 'PATCH', path: role, body: { rules: [] }, contentType: 'application/merge-patch+json' });
    await start();
    await put('Client', 'app', machine('s3cret'));
    await eventually('it was refused', () => failures.length > 0);
    await plane.call({
      method: 'PATCH',
      path: role,
      body: { rules: statusRules },
      contentType: 'application/merge-patch+json',
    });
    await ready('Client', 'app');
  });
});

const resources = Object.values(plurals);
const statusRules = [
  { apiGroups: ['boxgate.dev'], resources: resources.map((name) => `${name}/status`), verbs: ['patch'] },
];
const finalizerRules = [{ apiGroups: ['boxgate.dev'], resources, verbs: ['patch'] }];
const readRules = [{ apiGroups: ['boxgate.dev'], resources, verbs: ['get', 'list', 'watch'] }];
const namespaceRules = [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] }];

/** A kubeconfig of a ServiceAccount that may read our kinds, write their statuses and hold their deletion, and nothing else. */
async function operatorKubeconfig(plane: ControlPlane): Promise<string> {
  const namespace = await plane.namespace('operator');
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await plane.call({ method: 'POST', path, body });
    if (answer.status > 299) throw new Error(JSON.stringify(answer.body));
  };
  await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'boxgate' } });
  for (const [name, rules] of [
    ['boxgate-declared', readRules],
    ['boxgate-statuses', statusRules],
    ['boxgate-finalizers', finalizerRules],
    ['boxgate-namespaces', namespaceRules],
  ] as const) {
    await post(`${rbac}/clusterroles`, { metadata: { name }, rules });
    await post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: 'boxgate', namespace }],
    });
  }
  return (await plane.kubeconfigFor(namespace, 'boxgate')).kubeconfig;
}
