import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { createConnection as openSocket, createServer, type Server } from 'node:net';
import path from 'node:path';
import { createConnection } from '../../../operator/kube/connection.ts';
import { createKubeApi, type KubeApi } from '../../../operator/kube/kube-api.ts';
import { KubeError } from '../../../operator/kube/kube-error.ts';
import { liveUid, pathOfKind } from '../../../operator/kube/live-read.ts';
import { controlPlane, type ControlPlane } from '../../envtest/control-plane.ts';
import { installCrds } from '../../envtest/install-crds.ts';
import {
  reset,
  silence,
  startScriptedApiServer,
  status,
  type ScriptedApiServer,
} from '../../envtest/scripted-api-server.ts';
import { apiOf } from './things.ts';

const never = new AbortController().signal;

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
      const error = await thrownBy(apiOf(server, undefined, 50).call({ path: '/version' }, never));
      expect(error.sort).to.equal('unavailable');
      expect(error.message).to.equal('/version: no answer within 50 ms');
    });

    it('row 12: end in time where an answer does not end', async () => {
      server.always('other', (response) => {
        response.write('{"half":');
      });
      const error = await thrownBy(apiOf(server, undefined, 50).call({ path: '/version' }, never));
      expect(error.message).to.equal('/version: no answer within 50 ms');
    });

    it('F-03: use no connection any more of those that were there when an answer did not come', async () => {
      const api = apiOf(server, undefined, 200);
      const version = (): Promise<unknown> => api.call({ path: '/version' }, never);
      await Promise.all([version(), version(), version()]);
      server.next('other', silence);
      await thrownBy(version());
      const before = new Set(server.requests.map(({ port }) => port));
      expect(before.size).to.be.above(1);
      await version();
      expect(before.has(server.requests.at(-1)?.port)).to.equal(false);
    });

    it('end when they are asked to', async () => {
      server.always('other', silence);
      const stopping = new AbortController();
      const call = thrownBy(apiOf(server).call({ path: '/version' }, stopping.signal));
      stopping.abort(new Error('stop'));
      expect((await call).sort).to.equal('unavailable');
    });

    it('row 16: tell how long the server wants to be left alone', async () => {
      server.next('other', status(429, { 'Retry-After': '7' }), status(503), reset);
      const api = apiOf(server);
      const errors = [
        await thrownBy(api.call({ path: '/version' }, never)),
        await thrownBy(api.call({ path: '/version' }, never)),
        await thrownBy(api.call({ path: '/version' }, never)),
      ];
      const seen = errors.map(({ sort, status: code, retryAfter }) => [sort, code, retryAfter]);
      expect(seen).to.deep.equal([
        ['unavailable', 429, 7_000],
        ['unavailable', 503, 0],
        ['unavailable', 0, 0],
      ]);
    });

    it('row 18: sign in once more with a token that is read anew, and not a third time', async () => {
      let reads = 0;
      const token = (): string => `token-${String((reads += 1))}`;
      server.next('other', status(401));
      await apiOf(server, token).call({ path: '/version' }, never);
      expect(server.requests.map((request) => request.token)).to.deep.equal(['token-1', 'token-2']);
      server.always('other', status(401));
      const error = await thrownBy(apiOf(server, token).call({ path: '/version' }, never));
      expect(error.sort).to.equal('unauthorized');
      expect(server.requests).to.have.length(4);
    });

    it('are counted', async () => {
      const paths: string[] = [];
      const api = createKubeApi(
        createConnection(() => server.config()),
        1_000,
        ({ path }) => paths.push(path),
      );
      await api.call({ path: '/version' }, never);
      expect(paths).to.deep.equal(['/version']);
    });
  });

  describe('to a real API server', () => {
    let plane: ControlPlane;
    let api: KubeApi;
    let namespace: string;
    before(async () => {
      plane = await controlPlane();
      await installCrds(plane);
      api = createKubeApi(createConnection(() => configFrom(plane.kubeconfig)));
      namespace = await plane.namespace('calls');
    });

    const clients = { group: 'boxgate.dev', version: 'v1', plural: 'clients' };
    const manifest = (name: string, spec: object = { grant_types: ['client_credentials'] }): object => ({
      apiVersion: 'boxgate.dev/v1',
      kind: 'Client',
      metadata: { name },
      spec,
    });
    const at = (name = ''): string => `${pathOfKind(clients, namespace)}${name === '' ? '' : `/${name}`}`;

    it('row 11: go over one connection, and over another one when the authority is another', async () => {
      const { port, count, close } = await countingProxy(Number(new URL(plane.url).port));
      const [cluster, user] = [
        configFrom(plane.kubeconfig).getCurrentCluster(),
        configFrom(plane.kubeconfig).getCurrentUser(),
      ];
      if (cluster?.caFile === undefined || user === null) throw new Error('no cluster');
      const caFile = path.join(path.dirname(plane.kubeconfig), 'authority-of-row-11.crt');
      const authority = await readFile(cluster.caFile, 'utf8');
      await writeFile(caFile, authority);
      let time = 0;
      const through = createKubeApi(
        createConnection(
          () => {
            const proxied = new KubeConfig();
            proxied.loadFromClusterAndUser({ ...cluster, caFile, server: `https://127.0.0.1:${String(port)}` }, user);
            return proxied;
          },
          () => time,
        ),
      );
      for (let n = 0; n < 50; n += 1) await through.call({ path: '/version' }, never);
      expect(count()).to.equal(1);
      await writeFile(caFile, `# rotated\n${authority}`);
      time += 1_000;
      for (let n = 0; n < 50; n += 1) await through.call({ path: '/version' }, never);
      expect(count()).to.equal(2);
      await writeFile(caFile, '');
      time += 1_000;
      expect((await thrownBy(through.call({ path: '/version' }, never))).sort).to.equal('unavailable');
      close();
    });

    it('row 16: tell what a refusal means', async () => {
      await api.call({ method: 'POST', path: at(), body: manifest('known') }, never);
      const stale = { ...manifest('known'), metadata: { name: 'known', resourceVersion: '1' } };
      const anonymous = createKubeApi(createConnection(() => withoutUser(plane.kubeconfig)));
      const wrong = createKubeApi(createConnection(() => withToken(plane.kubeconfig, 'wrong')));
      const refusals = {
        'not-found': () => api.call({ path: at('unknown') }, never),
        conflict: () => api.call({ method: 'POST', path: at(), body: manifest('known') }, never),
        invalid: () => api.call({ method: 'POST', path: at(), body: manifest('bad', { grant_types: [] }) }, never),
        forbidden: () => anonymous.call({ path: at() }, never),
        unauthorized: () => wrong.call({ path: at() }, never),
      };
      for (const [sort, call] of Object.entries(refusals)) expect((await thrownBy(call())).sort).to.equal(sort);
      expect((await thrownBy(api.call({ method: 'PUT', path: at('known'), body: stale }, never))).sort).to.equal(
        'conflict',
      );
    });

    it('row 17: patch as they say', async () => {
      const query = { fieldManager: 'test', force: 'true' };
      await api.call({ method: 'PATCH', path: at('patched'), query, patch: 'apply', body: manifest('patched') }, never);
      const merged = await api.call(
        { method: 'PATCH', path: at('patched'), patch: 'merge', body: { spec: { name: 'n' } } },
        never,
      );
      expect(merged).to.have.nested.property('spec.name', 'n');
      const body = [{ op: 'remove', path: '/spec/name' }];
      const removed = await api.call({ method: 'PATCH', path: at('patched'), patch: 'json', body }, never);
      expect(removed).to.not.have.nested.property('spec.name');
    });

    it('row 18: read a token file anew when the token is refused', async () => {
      await plane.call({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
        body: { metadata: { name: 'reader' } },
      });
      const { kubeconfig, tokenFile } = await plane.kubeconfigFor(namespace, 'reader');
      const good = await plane.token(namespace, 'reader');
      await writeFile(tokenFile, 'expired');
      const reader = createKubeApi(createConnection(() => configFrom(kubeconfig)));
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const call = { method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: review } as const;
      expect((await thrownBy(reader.call(call, never))).sort).to.equal('unauthorized');
      await writeFile(tokenFile, good);
      const username = `system:serviceaccount:${namespace}:reader`;
      expect(await reader.call(call, never)).to.have.nested.property('status.userInfo.username', username);
    });

    it('say that an object is gone only where the answer names it', async () => {
      await api.call({ method: 'POST', path: at(), body: manifest('there') }, never);
      expect(await liveUid(api, { ...clients, namespace, name: 'there' }, never)).to.be.a('string');
      expect(await liveUid(api, { ...clients, namespace, name: 'gone' }, never)).to.equal(undefined);
      // Its definition is not there: nothing is known of its objects.
      const things = { ...clients, plural: 'things', namespace, name: 'gone' };
      expect((await thrownBy(liveUid(api, things, never))).sort).to.equal('not-found');
      const forbidden = createKubeApi(createConnection(() => withoutUser(plane.kubeconfig)));
      const gone = liveUid(forbidden, { ...clients, namespace, name: 'gone' }, never);
      expect((await thrownBy(gone)).sort).to.equal('forbidden');
    });
  });
});

function configFrom(file: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(file);
  return config;
}

function withoutUser(file: string): KubeConfig {
  return withToken(file, undefined);
}

function withToken(file: string, token: string | undefined): KubeConfig {
  const config = new KubeConfig();
  const cluster = configFrom(file).getCurrentCluster();
  if (cluster === null) throw new Error('no cluster');
  config.loadFromClusterAndUser(cluster, { name: 'somebody', ...(token === undefined ? {} : { token }) });
  return config;
}

/** Forwards connections, and counts them. */
async function countingProxy(target: number): Promise<{ port: number; count: () => number; close: () => void }> {
  let connections = 0;
  const server: Server = createServer((near) => {
    connections += 1;
    const far = openSocket(target, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, count: () => connections, close: () => server.close().unref() };
}
