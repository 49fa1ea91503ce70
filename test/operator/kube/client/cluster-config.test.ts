import { HttpMethod, RequestContext, VersionApi } from '@kubernetes/client-node';
import { expect } from 'chai';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  clusterConfig,
  createConnection,
  type ClusterConfig,
} from '../../../../operator/kube/client/cluster-config.ts';
import { createKubeApi } from '../../../../operator/kube/client/kube-api.ts';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';

const never = new AbortController().signal;

/** Signs one request in, and returns it. */
async function signed(config: ClusterConfig): Promise<RequestContext> {
  const context = new RequestContext(`${config.getCurrentCluster()?.server ?? ''}/version`, HttpMethod.GET);
  await config.applySecurityAuthentication(context);
  return context;
}

describe('what a pod is given to sign in with', () => {
  let accountFolder: string;
  let config: ClusterConfig;
  beforeEach(async () => {
    accountFolder = await mkdtemp(path.join(tmpdir(), 'boxgate-account-'));
    await put('token', 'a-token');
    await put('ca.crt', 'an authority');
    config = clusterConfig({ host: '10.96.0.1', port: 443, accountFolder });
  });
  afterEach(() => rm(accountFolder, { recursive: true }));

  /** As the kubelet does it: the file is another one at once. */
  async function put(name: string, text: string): Promise<void> {
    const fresh = path.join(accountFolder, `.${name}`);
    await writeFile(fresh, text);
    await rename(fresh, path.join(accountFolder, name));
  }

  const servers: readonly (readonly [host: string, port: number, server: string])[] = [
    ['10.96.0.1', 443, 'https://10.96.0.1:443'],
    ['fd00:10:96::1', 443, 'https://[fd00:10:96::1]:443'],
    ['::1', 6443, 'https://[::1]:6443'],
    ['api.example.com', 443, 'https://api.example.com:443'],
    // The token would be read by whoever listens.
    ['10.96.0.1', 8080, 'https://10.96.0.1:8080'],
  ];
  for (const [host, port, server] of servers) {
    it(`is for ${server} with host ${host}`, () => {
      expect(clusterConfig({ host, port, accountFolder }).getCurrentCluster()?.server).to.equal(server);
    });
  }

  it('is the token of the file, without the end of its line', async () => {
    for (const text of ['a-token', 'a-token\n', 'a-token\r\n']) {
      await put('token', text);
      const { Authorization: header } = (
        await signed(clusterConfig({ host: '::1', port: 1, accountFolder }))
      ).getHeaders();
      expect(header).to.equal('Bearer a-token');
    }
  });

  it('F-12: has other connections once the authority was replaced, and the same until then', async () => {
    const [before, again] = [await signed(config), await signed(config)];
    expect(again.getDispatcher()).to.equal(before.getDispatcher());
    await put('ca.crt', 'the next authority');
    expect((await signed(config)).getDispatcher()).not.to.equal(before.getDispatcher());
  });

  for (const name of ['token', 'ca.crt']) {
    const file = (): string => path.join(accountFolder, name);

    it(`fails the call that cannot sign in when ${name} is not there or empty, and not the next one`, async () => {
      const api = createKubeApi(createConnection(() => clusterConfig({ host: '127.0.0.1', port: 1, accountFolder })));
      const call = async (): Promise<string> => {
        const error: unknown = await api
          .call((make) => make(VersionApi).getCode(), never)
          .catch((caught: unknown) => caught);
        return error instanceof KubeError && error.code === 'unavailable' ? error.message : expect.fail(String(error));
      };
      await rm(file());
      expect(await call()).to.equal(`/version: ENOENT: no such file or directory, open '${file()}'`);
      for (const text of ['', '\n']) {
        await put(name, text);
        expect(await call()).to.equal(`cannot sign in: ${file()} is empty`);
      }
      await put(name, 'is back');
      expect(await call()).to.contain(name === 'token' ? 'ECONNREFUSED' : '/version: ');
    });
  }
});

describe('signing in by a kubeconfig file', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'boxgate-kubeconfig-'));
    file = path.join(folder, 'kubeconfig');
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Reads the configuration of a user, at a cluster. */
  async function configOf(user: object, cluster: object = {}, context = 'chosen'): Promise<ClusterConfig> {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'other', cluster: { server: 'https://other.example' } },
        { name: 'cluster', cluster: { server: 'https://api.example:6443/prefix', ...cluster } },
      ],
      users: [{ name: 'user', user }],
      contexts: [{ name: 'chosen', context: { cluster: 'cluster', user: 'user' } }],
      'current-context': context,
    };
    await writeFile(file, JSON.stringify(config));
    return clusterConfig({ kubeconfig: file });
  }

  const credential = {
    kind: 'ExecCredential',
    apiVersion: 'client.authentication.k8s.io/v1',
    status: { token: 'made' },
  };
  const plugin = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', `console.log(${JSON.stringify(JSON.stringify(credential))})`],
    interactiveMode: 'Never',
  };
  const users: Readonly<
    Record<string, readonly [user: (folder: string) => object, authorization: string | undefined]>
  > = {
    'a token': [() => ({ token: 'given' }), 'Bearer given'],
    'a token in a file': [
      (at) => ({ 'auth-provider': { name: 'tokenFile', config: { tokenFile: path.join(at, 'token') } } }),
      'Bearer stored',
    ],
    'what a plugin says': [() => ({ exec: plugin }), 'Bearer made'],
    'a name and a password': [() => ({ username: 'a', password: 'b' }), `Basic ${btoa('a:b')}`],
    nothing: [() => ({}), undefined],
  };
  for (const [what, [user, authorization]] of Object.entries(users)) {
    it(`sends ${what}, to the server of the chosen context`, async () => {
      await writeFile(path.join(folder, 'token'), 'stored');
      const context = await signed(await configOf(user(folder)));
      expect(context.getUrl()).to.equal('https://api.example:6443/prefix/version');
      expect(context.getHeaders()['Authorization']).to.equal(authorization);
    });
  }

  it('has other connections for another authority and another certificate of its own', async () => {
    const data = (name: string, text: string): Promise<void> => writeFile(path.join(folder, name), text);
    const names = ['ca', 'cert', 'key'];
    for (const name of names) await data(name, 'one');
    const config = await configOf(
      { 'client-certificate': 'cert', 'client-key': 'key' },
      { 'certificate-authority': 'ca' },
    );
    const dispatchers = new Set([(await signed(config)).getDispatcher()]);
    for (const name of names) {
      await data(name, 'two');
      dispatchers.add((await signed(config)).getDispatcher());
      dispatchers.add((await signed(config)).getDispatcher());
    }
    expect(dispatchers.size).to.equal(4);
  });

  it('fails where the file names no cluster, and where it is not there', async () => {
    const missing = path.join(folder, 'nothing');
    const errors: unknown[] = [
      await configOf({}, {}, 'not-there').catch((error: unknown) => error),
      await (async () => clusterConfig({ kubeconfig: missing }))().catch((error: unknown) => error),
    ];
    expect(errors.map(String)).to.deep.equal([
      `Error: ${file} names no cluster`,
      `Error: ENOENT: no such file or directory, open '${missing}'`,
    ]);
  });
});
