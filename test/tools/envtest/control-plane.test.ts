import { AuthenticationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { isRunning } from '../../support/processes.ts';
import { controlPlane, startControlPlane, type ControlPlane } from '../../support/cluster/control-plane.ts';

function configOf(file: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(file);
  return config;
}

describe('the control plane of the tests', () => {
  let plane: ControlPlane;
  before(async () => {
    plane = await controlPlane();
  });

  it('is the same one for every test file of a process', async () => {
    expect(await controlPlane()).to.equal(plane);
  });

  it('lets its admin do everything', async () => {
    const api = configOf(plane.kubeconfig).makeApiClient(CoreV1Api);
    const name = await plane.namespace('rig');
    expect((await api.readNamespace({ name })).metadata?.name).to.equal(name);
  });

  it('knows a ServiceAccount by its token, and lets it do nothing that no role grants', async () => {
    const namespace = await plane.namespace('rig');
    const body = { metadata: { name: 'operator' } };
    await plane.call({ method: 'POST', path: `/api/v1/namespaces/${namespace}/serviceaccounts`, body });
    const config = configOf((await plane.accountFor(namespace, 'operator')).kubeconfig);
    const review = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
    expect(review.status?.userInfo?.username).to.equal(`system:serviceaccount:${namespace}:operator`);
    const refusal: unknown = await config
      .makeApiClient(CoreV1Api)
      .listNamespacedSecret({ namespace })
      .catch((error: unknown) => error);
    expect(refusal).to.have.property('code', 403);
  });

  for (const [how, end] of [
    ['SIGKILL', (pid: number) => process.kill(pid, 'SIGKILL')],
    ['SIGHUP of a terminal that closes, to its whole process group', (pid: number) => process.kill(-pid, 'SIGHUP')],
  ] as const) {
    it(`ends with the process that started it and leaves nothing: by ${how}`, async () => {
      const program = `
        const { startControlPlane } = await import(${JSON.stringify(path.resolve('test/support/cluster/control-plane.ts'))});
        const { familyOf } = await import(${JSON.stringify(path.resolve('test/support/processes.ts'))});
        const plane = await startControlPlane();
        console.log(JSON.stringify([plane.kubeconfig, ...familyOf(process.pid).slice(1)]));
        setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      const line = await new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
      const started: unknown = JSON.parse(line);
      const [kubeconfig, ...pids] = Array.isArray(started) ? started.map(String) : [];
      expect(pids.filter((pid) => isRunning(Number(pid)))).to.have.length.at.least(4);
      end(child.pid ?? 0);
      await eventually('its programs have ended', () => !pids.some((pid) => isRunning(Number(pid))));
      await eventually('its folder is gone', () => !existsSync(path.dirname(kubeconfig ?? '')));
    });
  }

  it('deletes a namespace with what is in it once it has controllers', async () => {
    const own = await startControlPlane();
    try {
      own.startControllers(['namespace']);
      const namespace = await own.namespace('rig');
      const body = { metadata: { name: 'held' } };
      await own.call({ method: 'POST', path: `/api/v1/namespaces/${namespace}/configmaps`, body });
      await own.call({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
      await eventually(
        'the namespace is gone',
        async () => (await own.call({ path: `/api/v1/namespaces/${namespace}` })).status === 404,
        60_000,
      );
    } finally {
      await own.stop();
    }
  });

  it('serves again after it was killed, with what it had', async () => {
    const own = await startControlPlane();
    try {
      const namespace = await own.namespace('rig');
      await own.signal('SIGKILL');
      expect(await own.call({ path: '/readyz' }).catch(() => 'away')).to.equal('away');
      await own.restart();
      expect((await own.call({ path: `/api/v1/namespaces/${namespace}` })).status).to.equal(200);
    } finally {
      await own.stop();
    }
  });
});
