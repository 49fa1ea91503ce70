import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { kubeconfigFile } from '../../../../operator/kube/client/kubeconfig-file.ts';
import type { KubeCredentials } from '../../../../operator/kube/client/credentials.ts';

describe('signing in by a kubeconfig file', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'boxgate-kubeconfig-'));
    file = path.join(folder, 'kubeconfig');
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Signs in as a user, at a cluster. */
  async function signIn(user: object, cluster: object = {}, context = 'chosen'): Promise<KubeCredentials> {
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
    return (await kubeconfigFile(file))();
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
      const { server, headers } = await signIn(user(folder));
      expect(server).to.equal('https://api.example:6443/prefix');
      expect(headers['Authorization']).to.equal(authorization);
    });
  }

  it('has other connections for another authority and another certificate of its own', async () => {
    const data = (text: string): string => Buffer.from(text).toString('base64');
    const seen = [
      await signIn({}),
      await signIn({}, { 'certificate-authority-data': data('one') }),
      await signIn({}, { 'certificate-authority-data': data('two') }),
      await signIn({ 'client-certificate-data': data('three') }, { 'certificate-authority-data': data('two') }),
      await signIn({ 'client-key-data': data('three') }, { 'certificate-authority-data': data('two') }),
    ];
    expect(new Set(seen.map(({ certificates }) => certificates))).to.have.length(seen.length);
  });

  it('fails where the file names no cluster, and where it is not there', async () => {
    const errors: unknown[] = [
      await signIn({}, {}, 'not-there').catch((error: unknown) => error),
      await kubeconfigFile(path.join(folder, 'nothing')).catch((error: unknown) => error),
    ];
    expect(errors.map(String)).to.deep.equal([
      `Error: ${file} names no cluster`,
      `Error: ENOENT: no such file or directory, open '${path.join(folder, 'nothing')}'`,
    ]);
  });
});
