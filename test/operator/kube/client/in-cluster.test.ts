import { expect } from 'chai';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createConnection } from '../../../../operator/kube/client/connection.ts';
import { inCluster } from '../../../../operator/kube/client/in-cluster.ts';
import { createKubeApi } from '../../../../operator/kube/client/kube-api.ts';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';
import type { KubeCredentialsSource } from '../../../../operator/kube/client/credentials.ts';

const never = new AbortController().signal;

describe('what a pod is given to sign in with', () => {
  let accountFolder: string;
  let source: KubeCredentialsSource;
  beforeEach(async () => {
    accountFolder = await mkdtemp(path.join(tmpdir(), 'boxgate-account-'));
    await put('token', 'a-token');
    await put('ca.crt', 'an authority');
    source = inCluster({ host: '10.96.0.1', port: 443, accountFolder });
  });
  afterEach(() => rm(accountFolder, { recursive: true }));

  /** As the kubelet does it: the file is another one at once. */
  async function put(name: string, text: string): Promise<void> {
    const fresh = path.join(accountFolder, `.${name}`);
    await writeFile(fresh, text);
    await rename(fresh, path.join(accountFolder, name));
  }

  async function thrown(): Promise<KubeError> {
    const error: unknown = await source().catch((caught: unknown) => caught);
    return error instanceof KubeError ? error : expect.fail(`threw ${String(error)}`);
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
    it(`is for ${server} with host ${host}`, async () => {
      expect((await inCluster({ host, port, accountFolder })()).server).to.equal(server);
      expect(new URL(server).protocol).to.equal('https:');
    });
  }

  it('is the token of the file, without the end of its line', async () => {
    for (const text of ['a-token', 'a-token\n', 'a-token\r\n', ' a-token \n\n']) {
      await put('token', text);
      expect((await source()).headers).to.deep.equal({ Authorization: 'Bearer a-token' });
    }
  });

  it('F-12: is another token once the file was replaced, over the same connections', async () => {
    const before = await source();
    await put('token', 'the-next-token');
    const after = await source();
    expect(after.headers).to.deep.equal({ Authorization: 'Bearer the-next-token' });
    expect(after.certificates).to.equal(before.certificates);
  });

  it('F-12: is another authority once the file was replaced', async () => {
    const before = await source();
    await put('ca.crt', 'the next authority');
    expect((await source()).certificates).not.to.equal(before.certificates);
  });

  for (const name of ['token', 'ca.crt']) {
    const file = (): string => path.join(accountFolder, name);

    it(`is an error that names the file when ${name} is not there, until it is`, async () => {
      await rm(file());
      expect((await thrown()).message).to.equal(`cannot sign in: ${file()} cannot be read (ENOENT)`);
      await put(name, 'is back');
      expect((await source()).server).to.be.a('string');
    });

    it(`is an error that names the file when ${name} is empty`, async () => {
      await put(name, '\n');
      expect(await thrown()).to.include({ code: 'unavailable', message: `cannot sign in: ${file()} is empty` });
    });
  }

  it('fails the call that cannot sign in, with the same sentence, and not the next one', async () => {
    const api = createKubeApi(createConnection(() => inCluster({ host: '127.0.0.1', port: 1, accountFolder })));
    const call = async (): Promise<string> => {
      const error: unknown = await api.call({ path: '/version' }, never).catch((caught: unknown) => caught);
      return error instanceof KubeError && error.code === 'unavailable' ? error.message : expect.fail(String(error));
    };
    await rm(path.join(accountFolder, 'token'));
    expect(await call()).to.contain(`${path.join(accountFolder, 'token')} cannot be read`);
    await put('token', 'is back');
    expect(await call()).to.contain('ECONNREFUSED');
  });
});
