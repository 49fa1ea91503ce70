import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { isList, parseJson } from '../../crds/path.ts';
import { startControlPlane } from '../support/cluster/control-plane.ts';
import { findPrograms } from '../../tools/envtest/find-programs.ts';
import { kubectl } from '../support/cluster/install-crds.ts';
import { startOperatorRig, type OperatorRig } from '../operator/operator-rig.ts';
import { eventually } from '../support/eventually.ts';

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly messages: string;
}

describe('kubectl boxgate', () => {
  let rig: OperatorRig;
  let box = '';
  /** Holds the plugin, as a person puts it on the PATH, and is that person's home. */
  let folder = '';
  let kubeconfig = '';

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'kubectl-boxgate-'));
    await symlink(path.resolve('boxctl'), path.join(folder, 'kubectl-boxgate'));
    rig = await startOperatorRig(await startControlPlane(), true);
    await rig.operator();
    box = await rig.box({ secrets: false });
    await create(`/api/v1/namespaces/${box}/serviceaccounts`, { metadata: { name: 'admins' } });
    await create('/api/v1/namespaces', { metadata: { name: 'people' } });
    await create('/api/v1/namespaces/people/serviceaccounts', { metadata: { name: 'ann' } });
    kubeconfig = path.join(folder, 'kubeconfig');
    const { plane } = rig;
    const config = (...args: readonly string[]) => kubectl(plane, '--kubeconfig', kubeconfig, 'config', ...args);
    await config('set-cluster', 'here', '--server', plane.url, '--certificate-authority', plane.certificate);
    await config('set-credentials', 'ann', '--token', await plane.token('people', 'ann'));
    await config('set-context', 'here', '--cluster', 'here', '--user', 'ann', '--namespace', box);
    await config('use-context', 'here');
  });
  after(async () => {
    await rig.stop();
    await rig.plane.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function create(at: string, body: object): Promise<void> {
    const { status, body: answer } = await rig.plane.call({ method: 'POST', path: at, body });
    if (status !== 201) throw new Error(JSON.stringify(answer));
  }

  /** Gives Ann rights in the namespace of the box. */
  async function allow(name: string, rules: readonly object[]): Promise<void> {
    const rbac = 'rbac.authorization.k8s.io';
    await create(`/apis/${rbac}/v1/namespaces/${box}/roles`, { metadata: { name }, rules });
    await create(`/apis/${rbac}/v1/namespaces/${box}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'people', name: 'ann' }],
    });
  }

  /** Runs `kubectl boxgate …` as Ann does. */
  function run(...args: readonly string[]): Promise<Ended> {
    return runProgram(findPrograms().kubectl, ['boxgate', ...args]);
  }

  function runProgram(program: string, args: readonly string[], config = kubeconfig): Promise<Ended> {
    const programs = [folder, path.dirname(process.execPath), path.dirname(findPrograms().kubectl)];
    const env = {
      PATH: [...programs, process.env['PATH'] ?? ''].join(':'),
      HOME: folder,
      KUBECONFIG: config,
    };
    return new Promise((resolve) => {
      const child = execFile(program, args, { env }, (error, output, messages) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), output, messages });
      });
      child.stdin?.end();
    });
  }

  it('names the right that is missing: to read the Box', async () => {
    const { code, output, messages } = await run('user', 'list');
    expect([code, output]).to.deep.equal([1, '']);
    expect(messages).to.match(
      new RegExp(
        `^boxctl: you have no right to get boxes\\.boxgate\\.dev in the namespace ${box}: ask an admin for it`,
      ),
    );
  });

  it('names the right that is missing: to move the box', async () => {
    const { code, messages } = await run('box', 'move', box, 'eu');
    expect([code, messages]).to.deep.equal([
      1,
      `boxctl: you have no right to get namespaces in the namespace ${box}: ask an admin for it\n`,
    ]);
  });

  it('says that the namespace is no box yet', async () => {
    await allow('reads', [{ apiGroups: ['boxgate.dev'], resources: ['boxes', 'clients'], verbs: ['get', 'list'] }]);
    await eventually('Ann may read', async () => (await run('box', 'status')).messages.includes('is no box yet'));
  });

  it('finds the box by the namespace of the kube context, and its address in the status', async () => {
    await rig.put('Client', box, 'kubectl', {
      grant_types: ['client_credentials'],
      service_accounts: [{ namespace: box, name: 'admins' }],
    });
    await rig.put('AccessPolicy', box, 'kubectl', {
      engine: 'allow',
      link: [{ resourceType: 'Client', id: 'kubectl' }],
    });
    await rig.ready('Client', box, 'kubectl');
    await rig.ready('AccessPolicy', box, 'kubectl');
    const { code, output, messages } = await run('box', 'status', '--output', 'json');
    expect([code, messages]).to.deep.equal([0, '']);
    expect(JSON.parse(output)).to.deep.equal({
      box,
      box_from: 'the namespace of the kube context',
      server: `${rig.api.url}/boxes/${box}`,
      server_from: 'the status of the Box',
      issuer: `${rig.api.url}/boxes/${box}`,
    });
  });

  it('boxctl finds the address of a box that --box names in the cluster of the context, whatever its namespace', async () => {
    const elsewhere = path.join(folder, 'elsewhere');
    await copyFile(kubeconfig, elsewhere);
    const config = ['--kubeconfig', elsewhere, 'config', 'set-context', 'here', '--namespace', 'people'] as const;
    await kubectl(rig.plane, ...config);
    const line = ['box', 'status', '--box', box, '--output', 'json'];
    const { code, output, messages } = await runProgram('./boxctl', line, elsewhere);
    expect([code, messages]).to.deep.equal([0, '']);
    expect(parseJson(output)).to.include({
      box_from: '--box',
      server: `${rig.api.url}/boxes/${box}`,
      server_from: 'the status of the Box',
    });
  });

  it('names the right that is missing: to create a token of the ServiceAccount', async () => {
    const { code, output, messages } = await run('user', 'list');
    expect([code, output]).to.deep.equal([1, '']);
    expect(messages).to.contain(`you have no right to create serviceaccounts/token in the namespace ${box}`);
  });

  it('signs in with the rights of the person, and works as boxctl', async () => {
    await allow('signs-in', [
      { apiGroups: [''], resources: ['serviceaccounts/token'], resourceNames: ['admins'], verbs: ['create'] },
    ]);
    await eventually('Ann may create the token', async () => (await run('user', 'list')).code === 0);
    expect(await run('user', 'new', 'ann@example.com:correct horse')).to.include({
      code: 0,
      output: `Created user ann@example.com (id 1) in the box ${box}.\n`,
    });
    const { output, messages } = await run('user', 'list');
    const users = parseJson(output);
    expect(messages).to.equal('');
    expect(isList(users) ? users.length : users).to.equal(1);
    expect(isList(users) ? users[0] : undefined).to.include({ id: 1, email: 'ann@example.com' });
  });

  it('works in a box whose Clients are megabytes in the cluster', async () => {
    const path = `/apis/boxgate.dev/v1/namespaces/${box}/clients`;
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const metadata = { name: `large-${name}`, annotations: { note: 'x'.repeat(250_000) } };
      const spec = { grant_types: ['client_credentials'], generateSecret: {} };
      await create(path, { apiVersion: 'boxgate.dev/v1', kind: 'Client', metadata, spec });
    }
    expect(await run('user', 'list')).to.include({ code: 0, messages: '' });
  });

  it('does what the policies of the box allow, and no more', async () => {
    await rig.put('AccessPolicy', box, 'kubectl', {
      engine: 'matcho',
      link: [{ resourceType: 'Client', id: 'kubectl' }],
      matcho: { 'request-method': 'get' },
    });
    await rig.ready('AccessPolicy', box, 'kubectl');
    expect((await run('user', 'list')).code).to.equal(0);
    const { code, messages } = await run('user', 'new', 'bob@example.com:correct horse');
    expect(code).to.equal(1);
    expect(messages).to.contain('no access policy of the box allows it to this caller');
  });

  it('asks which client, where several list ServiceAccounts', async () => {
    await rig.put('Client', box, 'reporting', {
      grant_types: ['client_credentials'],
      service_accounts: [{ namespace: box, name: 'reports' }],
    });
    await rig.ready('Client', box, 'reporting');
    const { code, messages } = await run('user', 'list');
    expect([code, messages]).to.deep.equal([
      2,
      'boxctl: which client? Give --kube-client with one of kubectl, reporting\n',
    ]);
    expect((await run('user', 'list', '--kube-client', 'kubectl')).code).to.equal(0);
    const other = await run('user', 'list', '--kube-client', 'nobody');
    expect([other.code, other.messages]).to.deep.equal([
      2,
      `boxctl: the box ${box} has no Client nobody with service_accounts: there are kubectl, reporting\n`,
    ]);
    expect((await run('user', 'list', '--kube-client', 'reporting')).messages).to.contain(
      'no right to create serviceaccounts/token',
    );
  });
});
