import { isObject } from '../../../crds/path.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManagement } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import { KINDS, type Kind } from '../../../crds/kind.ts';
import { createClusterSecrets } from '../../../operator/kube/secrets/cluster-secrets.ts';
import { createClusterSource } from '../../../operator/kube/source/cluster-source.ts';
import type { PodAccess } from '../../../operator/config.ts';
import { clusterConfig, createConnection } from '../../../operator/kube/client/cluster-config.ts';
import { createKubeApi } from '../../../operator/kube/client/kube-api.ts';
import { defaultTimes } from '../../../operator/kube/client/list-watch.ts';
import { startReconciler, type Reconciler } from '../../../operator/reconcile/reconciler.ts';
import { mayAccount } from '../../support/cluster/access-review.ts';
import { controlPlane, type ControlPlane } from '../../support/cluster/control-plane.ts';
import { installCrds } from '../../support/cluster/install-crds.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryKeeper } from '../memory-source.ts';
import { plainOptions } from '../reconciler-options.ts';
import { removeObjects } from '../remove-objects.ts';
import { recordedEvents } from '../status/recorded-events.ts';
import { recordedCalls, type SentCall } from './recorded-calls.ts';

/** One box of a real cluster, and the reconciler in this process over a source that may do no more than it needs. */
export interface SourceRig {
  readonly plane: ControlPlane;
  readonly box: string;
  /** Every call of the Kubernetes API that was sent. */
  readonly calls: SentCall[];
  readonly failures: unknown[];
  /** Runs between the creation of a call and its sending. */
  meanwhile: (call: SentCall) => Promise<void>;
  /** URL of the management port that the reconciler calls from its next start on. */
  managementUrl: string;
  /** Starts the reconciler; resolves after its first round. */
  start(): Promise<void>;
  /** Starts the reconciler without waiting for its first round. */
  begin(): void;
  stop(): Promise<void>;
  sweep(): Promise<void>;
  /** Returns the path of a kind in this box, or of one of its objects. */
  at(kind: Kind, name?: string): string;
  /** Makes an object as an admin does, or changes it. */
  put(kind: Kind, name: string, spec: object): Promise<void>;
  /** Changes an object past what the admin applies: annotations, finalizers. */
  merge(kind: Kind, name: string, body: object): Promise<void>;
  find(kind: Kind, name: string): Promise<FoundObject>;
  /** `True/Ready` of an object's condition as it is now. */
  condition(kind: Kind, name: string, type?: string): Promise<string>;
  ready(kind: Kind, name: string): Promise<void>;
  /** Status of a token request with a secret. */
  token(id: string, secret: string): Promise<number>;
  /** The writes among the calls. */
  writes(): readonly SentCall[];
  /**
   * Sets the source's rights from now on to our kinds (`declared`), their statuses (`statuses`), …: no verb, no right.
   */
  allow(what: keyof typeof rights, ...verbs: readonly string[]): Promise<void>;
  /** Ends the reconciler, and takes the objects away. */
  end(): Promise<void>;
}

/** An object of a cluster, as far as the tests look at it. */
export interface FoundObject {
  readonly uid: string;
  readonly observedGeneration: unknown;
  readonly conditions: readonly Record<string, unknown>[];
  readonly status: Record<string, unknown>;
}

/** A client with a chosen secret. */
export function machine(secret: string): object {
  return { grant_types: ['client_credentials'], secret };
}

/**
 * Before the tests of a suite: our kinds and the rights of a source on the control plane that the test files of this
 * process share, and an API. `take` gets a box of its own for each test.
 */
export function eachInCluster(take: (rig: SourceRig) => void): void {
  let api: TestApi;
  let plane: ControlPlane;
  let account: SourceAccount;
  let rig: SourceRig;
  before(async () => {
    [plane, api] = await Promise.all([controlPlane(), startApi()]);
    await installCrds(plane);
    // A source reads all namespaces, and would process what other test files left behind.
    await removeObjects(plane);
    account = await sourceAccount(plane);
  });
  after(() => api.stop());
  beforeEach(async () => {
    rig = sourceRig(plane, api, account, await plane.namespace('box'));
    take(rig);
  });
  afterEach(() => rig.end());
}

function sourceRig(plane: ControlPlane, api: TestApi, account: SourceAccount, box: string): SourceRig {
  let reconciler: Reconciler | undefined;
  const rig: SourceRig = {
    plane,
    box,
    calls: [],
    failures: [],
    meanwhile: async () => undefined,
    managementUrl: api.managementUrl,
    begin() {
      reconciler = startOver(rig, api, account.access);
    },
    async start() {
      rig.begin();
      await reconciler?.firstRound;
    },
    async stop() {
      await reconciler?.stop();
      reconciler = undefined;
    },
    sweep: async () => reconciler?.sweep(),
    at: (kind, name = '') =>
      `/apis/boxgate.dev/v1/namespaces/${box}/${KINDS[kind].plural}${name === '' ? '' : `/${name}`}`,
    put(kind, name, spec) {
      return apply(plane, rig.at(kind, name), { apiVersion: 'boxgate.dev/v1', kind, metadata: { name }, spec });
    },
    async merge(kind, name, body) {
      await plane.call({
        method: 'PATCH',
        path: rig.at(kind, name),
        body,
        contentType: 'application/merge-patch+json',
      });
    },
    async find(kind, name) {
      const { body } = await plane.call({ path: rig.at(kind, name) });
      const { metadata, status = {} } = isObject(body) ? body : {};
      if (!isObject(metadata) || !isObject(status)) throw new Error(`no ${name}: ${JSON.stringify(body)}`);
      const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isObject) : [];
      return { uid: String(metadata['uid']), observedGeneration: status['observedGeneration'], conditions, status };
    },
    async condition(kind, name, type = 'Ready') {
      const found = (await rig.find(kind, name)).conditions.find((one) => one['type'] === type);
      return `${String(found?.['status'])}/${String(found?.['reason'])}`;
    },
    ready: (kind, name) =>
      eventually(`${name} is Ready`, async () => (await rig.condition(kind, name)) === 'True/Ready'),
    async token(id, secret) {
      const answer = await fetch(`${api.url}/boxes/${box}/auth/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ grant_type: 'client_credentials', client_id: id, client_secret: secret }),
      });
      return answer.status;
    },
    writes: () => rig.calls.filter(({ method }) => method !== 'GET'),
    async allow(what, ...verbs) {
      await applyRole(plane, what, verbs);
      await untilAllowed(plane, account, what, verbs);
    },
    async end() {
      await rig.stop();
      for (const kind of ['Client', 'AccessPolicy', 'Box', 'Group'] as const) {
        await plane.call({ method: 'DELETE', path: rig.at(kind) });
      }
    },
  };
  return rig;
}

function startOver(rig: SourceRig, api: TestApi, access: PodAccess): Reconciler {
  const real = createKubeApi(createConnection(() => clusterConfig(access)));
  const kube = recordedCalls(real, rig.calls, (call) => rig.meanwhile(call));
  const listening = {
    api: kube,
    times: defaultTimes,
    random: Math.random,
    now: () => performance.now(),
    sleep: (wait: number, signal: AbortSignal) => sleep(wait, undefined, { signal }).catch(() => undefined),
    onFailure: (error: unknown) => void rig.failures.push(error),
  };
  const { secrets } = createClusterSecrets(listening, 'boxgate-system:boxgate', recordedEvents());
  return startReconciler({
    ...plainOptions(api.url),
    source: createClusterSource({ ...listening, date: () => new Date(), secrets }),
    keeper: memoryKeeper(),
    management: createManagement({ url: rig.managementUrl, key: new Secret(api.managementKey) }),
    cluster: `cluster-${rig.box}`,
    events: recordedEvents(),
    onFailure: (_box, error) => rig.failures.push(error),
  });
}

const ours = Object.values(KINDS).map(({ plural }) => plural);

/** Rights of a source: read our kinds, write their statuses, set their finalizers, read Namespaces; nothing else. */
const rights = {
  declared: { apiGroups: ['boxgate.dev'], resources: ours, verbs: ['get', 'list', 'watch'] },
  statuses: { apiGroups: ['boxgate.dev'], resources: ours.map((name) => `${name}/status`), verbs: ['patch'] },
  finalizers: { apiGroups: ['boxgate.dev'], resources: ours, verbs: ['patch'] },
  definitions: { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get'] },
  namespaces: { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
} as const;

const rightNames = ['declared', 'statuses', 'finalizers', 'definitions', 'namespaces'] as const;

const rbac = { group: 'rbac.authorization.k8s.io', path: '/apis/rbac.authorization.k8s.io/v1' } as const;

async function applyRole(plane: ControlPlane, what: keyof typeof rights, verbs: readonly string[]): Promise<void> {
  const [name, rules] = [`source-${what}`, verbs.length === 0 ? [] : [{ ...rights[what], verbs }]];
  const body = { apiVersion: `${rbac.group}/v1`, kind: 'ClusterRole', metadata: { name }, rules };
  await apply(plane, `${rbac.path}/clusterroles/${name}`, body);
}

/** A ServiceAccount, and its way in. */
interface SourceAccount {
  readonly namespace: string;
  readonly name: string;
  readonly access: PodAccess;
}

/** A ServiceAccount that has these rights. */
async function sourceAccount(plane: ControlPlane): Promise<SourceAccount> {
  const namespace = await plane.namespace('source');
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'boxgate' } };
  await apply(plane, `/api/v1/namespaces/${namespace}/serviceaccounts/boxgate`, account);
  for (const what of rightNames) {
    await applyRole(plane, what, rights[what].verbs);
    const name = `source-${what}`;
    await apply(plane, `${rbac.path}/clusterrolebindings/${name}`, {
      apiVersion: `${rbac.group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: 'boxgate', namespace }],
    });
  }
  const { access } = await plane.accountFor(namespace, 'boxgate');
  const made = { namespace, name: 'boxgate', access };
  for (const what of rightNames) await untilAllowed(plane, made, what, rights[what].verbs);
  return made;
}

/** The API server takes a role for what it is some milliseconds after it was changed. */
async function untilAllowed(
  plane: ControlPlane,
  account: SourceAccount,
  what: keyof typeof rights,
  verbs: readonly string[],
): Promise<void> {
  const { apiGroups, resources } = rights[what];
  const [resource, subresource] = resources[0].split('/');
  for (const verb of rights[what].verbs) {
    const resourceAttributes = { verb, group: apiGroups[0], resource, subresource };
    await eventually(
      `it may ${verb} ${what}: ${String(verbs.includes(verb))}`,
      async () => (await mayAccount(plane, account, { resourceAttributes })) === verbs.includes(verb),
    );
  }
}

/** Applies an object as an admin does; throws what the API server says against it. */
async function apply(plane: ControlPlane, path: string, body: object): Promise<void> {
  const query = '?fieldManager=admin&force=true';
  const contentType = 'application/apply-patch+yaml';
  const answer = await plane.call({ method: 'PATCH', path: `${path}${query}`, body, contentType });
  if (answer.status > 299) throw new Error(JSON.stringify(answer.body));
}
