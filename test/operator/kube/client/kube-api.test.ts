import { AuthenticationV1Api, CustomObjectsApi, VersionApi } from '@kubernetes/client-node';
import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection as openSocket, createServer, type Server } from 'node:net';
import path from 'node:path';
import { mock } from 'node:test';
import type { ClusterAccess } from '../../../../operator/config.ts';
import { ClusterConfig, clusterConfig, createConnection } from '../../../../operator/kube/client/cluster-config.ts';
import { createKubeApi, type KubeApi, type KubeCall } from '../../../../operator/kube/client/kube-api.ts';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';
import { liveUid } from '../../../../operator/kube/client/kube-object.ts';
import { controlPlane, type ControlPlane, type PodAccount } from '../../../support/cluster/control-plane.ts';
import { installCrds } from '../../../support/cluster/install-crds.ts';
import {
  reset,
  silence,
  startScriptedApiServer,
  status,
  type ScriptedApiServer,
} from '../../../support/cluster/scripted-api-server.ts';
import { apiOf } from '../things.ts';
import { portOf } from '../../../../program/environment.ts';

const never = new AbortController().signal;
const version: KubeCall = (make) => make(VersionApi).getCode();

async function thrownBy(work: Promise<unknown>): Promise<KubeError> {
  const thrown: unknown = await work.catch((error: unknown) => error);
  return thrown instanceof KubeError ? thrown : expect.fail(`threw ${String(thrown)}`);
}

describe('calls of the Kubernetes API', () => {
  describe('to a scripted server', () => {
    let server: ScriptedApiServer;
    beforeEach(async () => {
      server = await startScriptedApiServer();
    });
    afterEach(() => server.close());

    it('row 12: end in time where no answer comes', async () => {
      server.always('other', silence);
      const error = await thrownBy(apiOf(server, undefined, 50).call(version, never));
      expect(error.code).to.equal('unavailable');
      expect(error.message).to.equal('/version: no answer within 50 ms');
    });

    it('row 12: end in time where an answer does not end', async () => {
      server.always('other', (response) => {
        response.write('{"half":');
      });
      const error = await thrownBy(apiOf(server, undefined, 50).call(version, never));
      expect(error.message).to.equal('/version: no answer within 50 ms');
    });

    it('row 12: end in time where signing in does not end, and the next one signs in again', async () => {
      const hung = Promise.withResolvers<undefined>();
      class HungPlugin extends ClusterConfig {
        override async applySecurityAuthentication(): Promise<void> {
          await hung.promise;
        }
      }
      let loads = 0;
      const connection = createConnection(() => {
        loads += 1;
        const config = loads === 1 ? new HungPlugin() : server.signIn();
        if (loads === 1) config.loadFromOptions(server.signIn());
        return config;
      });
      const api = createKubeApi(connection, { timeout: 1_000 });
      const stopping = new AbortController();
      const calls = [never, stopping.signal].map((signal) => thrownBy(api.call(version, signal)));
      stopping.abort(new Error('stop'));
      const messages = (await Promise.all(calls)).map(({ message }) => message);
      expect(messages).to.deep.equal(['/version: no answer within 1000 ms', '/version: stop']);
      await api.call(version, never);
      hung.reject(new Error('too late to matter'));
    });

    it('F-03: use no connection any more of those that were there when an answer did not come', async () => {
      const api = apiOf(server, undefined, 1_000);
      const ask = (): Promise<unknown> => api.call(version, never);
      await Promise.all([ask(), ask(), ask()]);
      server.next('other', silence);
      await thrownBy(ask());
      const before = new Set(server.requests.map(({ port }) => port));
      expect(before.size).to.be.above(1);
      await ask();
      expect(before.has(server.requests.at(-1)?.port)).to.equal(false);
    });

    it('end when they are asked to', async () => {
      server.always('other', silence);
      const stopping = new AbortController();
      const call = thrownBy(apiOf(server).call(version, stopping.signal));
      stopping.abort(new Error('stop'));
      expect((await call).code).to.equal('unavailable');
    });

    it('row 16: tell how long the server wants to be left alone', async () => {
      server.next('other', status(429, { 'Retry-After': '7' }), status(503, { 'Retry-After': '3600' }));
      server.next('other', status(503), reset);
      const api = apiOf(server);
      const errors = [
        await thrownBy(api.call(version, never)),
        await thrownBy(api.call(version, never)),
        await thrownBy(api.call(version, never)),
        await thrownBy(api.call(version, never)),
      ];
      const seen = errors.map(({ code: sort, status: code, retryAfter }) => [sort, code, retryAfter]);
      expect(seen).to.deep.equal([
        ['unavailable', 429, 7_000],
        // Of a proxy, say: for no longer, because the next watch would find nothing out.
        ['unavailable', 503, 30_000],
        ['unavailable', 503, 0],
        ['unavailable', 0, 0],
      ]);
    });

    it('row 18: sign in once more with a token that is read again, and not a third time', async () => {
      let reads = 0;
      const token = (): string => `token-${String((reads += 1))}`;
      server.next('other', status(401));
      await apiOf(server, token).call(version, never);
      expect(server.requests.map((request) => request.token)).to.deep.equal(['token-1', 'token-2']);
      server.always('other', status(401));
      const error = await thrownBy(apiOf(server, token).call(version, never));
      expect(error.code).to.equal('unauthorized');
      expect(server.requests).to.have.length(4);
    });

    it('are counted', async () => {
      const answers: unknown[] = [];
      const api = createKubeApi(
        createConnection(() => server.signIn()),
        { timeout: 1_000, onAnswer: (request, status) => answers.push([new URL(request.getUrl()).pathname, status]) },
      );
      await api.call(version, never);
      expect(answers).to.deep.equal([['/version', 200]]);
    });
  });

  describe('to a real API server', () => {
    let plane: ControlPlane;
    let api: KubeApi;
    let namespace: string;
    before(async () => {
      plane = await controlPlane();
      await installCrds(plane);
      api = createKubeApi(createConnection(() => clusterConfig({ kubeconfig: plane.kubeconfig })));
      namespace = await plane.namespace('calls');
    });

    /** As whoever has this token, or as nobody. */
    async function signedInBy(token?: string): Promise<KubeApi> {
      const file = path.join(await mkdtemp(path.join(path.dirname(plane.kubeconfig), 'user-')), 'kubeconfig');
      const config: unknown = JSON.parse(await readFile(plane.kubeconfig, 'utf8'));
      const users = [{ name: 'user', user: { token } }];
      await writeFile(file, JSON.stringify(isObject(config) ? { ...config, users } : {}));
      return createKubeApi(createConnection(() => clusterConfig({ kubeconfig: file })));
    }

    const clients = { group: 'boxgate.dev', version: 'v1', plural: 'clients' };
    const manifest = (name: string, spec: object = { grant_types: ['client_credentials'] }): object => ({
      apiVersion: 'boxgate.dev/v1',
      kind: 'Client',
      metadata: { name },
      spec,
    });
    const custom = (name: string) => ({ ...clients, namespace, name });
    const create =
      (body: object): KubeCall =>
      (make) =>
        make(CustomObjectsApi).createNamespacedCustomObject({ ...clients, namespace, body });
    const read =
      (name: string, plural = clients.plural): KubeCall =>
      (make) =>
        make(CustomObjectsApi).getNamespacedCustomObject({ ...custom(name), plural });
    const patch =
      (name: string, body: object, more: object = {}): KubeCall =>
      (make) =>
        make(CustomObjectsApi).patchNamespacedCustomObject({ ...custom(name), body, ...more });

    it('row 16: tell what a refusal means', async () => {
      await api.call(create(manifest('known')), never);
      const body = { ...manifest('known'), metadata: { name: 'known', resourceVersion: '1' } };
      const stale: KubeCall = (make) =>
        make(CustomObjectsApi).replaceNamespacedCustomObject({ ...custom('known'), body });
      const anonymous = await signedInBy();
      const wrong = await signedInBy('wrong');
      const refusals = {
        'not-found': () => api.call(read('unknown'), never),
        conflict: () => api.call(create(manifest('known')), never),
        invalid: () => api.call(create(manifest('bad', { grant_types: ['x'] })), never),
        forbidden: () => anonymous.call(read('known'), never),
        unauthorized: () => wrong.call(read('known'), never),
      };
      for (const [sort, call] of Object.entries(refusals)) expect((await thrownBy(call())).code).to.equal(sort);
      expect((await thrownBy(api.call(stale, never))).code).to.equal('conflict');
    });

    it('row 17: patch as they say', async () => {
      const query = { fieldManager: 'test', force: true };
      await api.call(patch('patched', manifest('patched'), query), never, { patch: 'apply' });
      const merged = await api.call(patch('patched', { spec: { name: 'n' } }), never, { patch: 'merge' });
      expect(merged).to.have.nested.property('spec.name', 'n');
      const body = [{ op: 'remove', path: '/spec/name' }];
      const removed = await api.call(patch('patched', body), never, { patch: 'json' });
      expect(removed).to.not.have.nested.property('spec.name');
    });

    it('say that an object is gone only where the answer names it', async () => {
      const uidOf = (kube: KubeApi, name: string, plural?: string): Promise<string | undefined> =>
        liveUid(kube, read(name, plural), { ...clients, name }, never);
      await api.call(create(manifest('there')), never);
      expect(await uidOf(api, 'there')).to.be.a('string');
      expect(await uidOf(api, 'gone')).to.equal(undefined);
      // Its definition is not there: nothing is known of its objects.
      expect((await thrownBy(uidOf(api, 'gone', 'things'))).code).to.equal('not-found');
      const forbidden = await signedInBy();
      expect((await thrownBy(uidOf(forbidden, 'gone'))).code).to.equal('forbidden');
    });
  });
});

/** The ways to sign in, through a proxy that counts connections. */
const ways = {
  'as in a pod': ({ access }, port) => ({ ...access, port }),
  'by a kubeconfig file': async ({ access, kubeconfig }, port) => {
    const text = await readFile(kubeconfig, 'utf8');
    const file = `${kubeconfig}.${String(port)}`;
    await writeFile(file, text.replace(`:${String(access.port)}`, `:${String(port)}`));
    return { kubeconfig: file };
  },
} satisfies Record<string, (account: PodAccount, port: number) => ClusterAccess | Promise<ClusterAccess>>;

for (const [way, signIn] of Object.entries(ways)) {
  describe(`calls that are signed in ${way}`, () => {
    let plane: ControlPlane;
    let namespace: string;
    let account: PodAccount;
    let proxy: CountingProxy;
    let api: KubeApi;
    before(async () => {
      plane = await controlPlane();
      namespace = await plane.namespace('sign-in');
      for (const name of ['reader', 'other']) {
        const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
        await plane.call({ method: 'POST', path, body: { metadata: { name } } });
      }
    });
    beforeEach(async () => {
      account = await plane.accountFor(namespace, 'reader');
      proxy = await countingProxy(Number(new URL(plane.url).port));
      const access = await signIn(account, proxy.port);
      api = createKubeApi(createConnection(() => clusterConfig(access)));
    });
    afterEach(() => proxy.close());

    const ask = (): Promise<unknown> => api.call(version, never);

    /** Name of the ServiceAccount that the API server takes the caller for. */
    async function caller(): Promise<unknown> {
      const answer = await api.call((make) => make(AuthenticationV1Api).createSelfSubjectReview({ body: {} }), never);
      const status = isObject(answer) && isObject(answer['status']) ? answer['status'] : {};
      return isObject(status['userInfo']) ? status['userInfo']['username'] : undefined;
    }
    const nameOf = (name: string): string => `system:serviceaccount:${namespace}:${name}`;

    it('row 11: go over one connection, and over another one when the authority is another', async () => {
      const authority = await readFile(account.certificate, 'utf8');
      for (let n = 0; n < 50; n += 1) await ask();
      expect(proxy.count()).to.equal(1);
      await writeFile(account.certificate, `# rotated\n${authority}`);
      for (let n = 0; n < 50; n += 1) await ask();
      expect(proxy.count()).to.equal(2);
      await writeFile(account.certificate, '');
      expect((await thrownBy(ask())).code).to.equal('unavailable');
      await writeFile(account.certificate, authority);
      await ask();
    });

    it('row 11: go over few connections when many begin at once', async () => {
      await Promise.all(Array.from({ length: 4 }, ask));
      expect(proxy.count()).to.be.at.most(4);
      for (let n = 0; n < 20; n += 1) await ask();
      expect(proxy.count()).to.be.at.most(4);
    });

    it('row 18: read the token file again when the token is refused', async () => {
      const good = await readFile(account.tokenFile, 'utf8');
      await writeFile(account.tokenFile, 'expired');
      expect((await thrownBy(caller())).code).to.equal('unauthorized');
      await writeFile(account.tokenFile, good);
      expect(await caller()).to.equal(nameOf('reader'));
    });

    it('F-12: fail while the token file is away, and go on when it is back', async () => {
      const good = await readFile(account.tokenFile, 'utf8');
      await rm(account.tokenFile);
      const error = await thrownBy(caller());
      expect(error.code).to.equal('unavailable');
      expect(error.message).to.contain(account.tokenFile);
      await writeFile(account.tokenFile, good);
      expect(await caller()).to.equal(nameOf('reader'));
    });

    it('F-12: have the token that was in the file a minute ago, though the old one is good still', async () => {
      expect(await caller()).to.equal(nameOf('reader'));
      await writeFile(account.tokenFile, `${await plane.token(namespace, 'other')}\n`);
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 61_000 });
      try {
        expect(await caller()).to.equal(nameOf('other'));
      } finally {
        mock.timers.reset();
      }
      expect(proxy.count()).to.equal(1);
    });
  });
}

interface CountingProxy {
  readonly port: number;
  /** Connections until now. */
  count(): number;
  close(): void;
}

/** Forwards connections, and counts them. */
async function countingProxy(target: number): Promise<CountingProxy> {
  let connections = 0;
  const server: Server = createServer((near) => {
    connections += 1;
    const far = openSocket(target, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  return { port, count: () => connections, close: () => server.close().unref() };
}
