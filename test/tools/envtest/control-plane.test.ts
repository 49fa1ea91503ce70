import { AuthenticationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { isRunning } from '../../support/processes.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { controlPlane, type ControlPlane } from '../../support/cluster/control-plane.ts';

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
    it(`has programs that end with the process that started them and leave nothing: by ${how}`, async () => {
      const folder = await scratchFolder('boxgate-guarded-');
      const program = `
        const { startGuarded } = await import(${JSON.stringify(path.resolve('test/support/cluster/guarded.ts'))});
        const { familyOf } = await import(${JSON.stringify(path.resolve('test/support/processes.ts'))});
        for (const log of ['one', 'two']) startGuarded(process.argv[1], process.argv[1] + '/' + log, ['sleep', '600']);
        setInterval(() => {
          const [, ...pids] = familyOf(process.pid);
          if (pids.length >= 4) console.log(JSON.stringify(pids));
        }, 20);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program, folder], {
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      const text = await new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve));
      const started: unknown = JSON.parse(text.split('\n')[0] ?? '');
      const pids = Array.isArray(started) ? started.map(Number) : [];
      expect(pids.filter(isRunning)).to.have.length.at.least(4);
      end(child.pid ?? 0);
      await eventually('its programs have ended', () => !pids.some(isRunning));
      await eventually('its folder is gone', () => !existsSync(folder));
    });
  }

  it('deletes a namespace with what is in it once it has controllers', async () => {
    plane.startControllers(['namespace']);
    const namespace = await plane.namespace('rig');
    const body = { metadata: { name: 'held' } };
    await plane.call({ method: 'POST', path: `/api/v1/namespaces/${namespace}/configmaps`, body });
    await plane.call({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    await eventually(
      'the namespace is gone',
      async () => (await plane.call({ path: `/api/v1/namespaces/${namespace}` })).status === 404,
    );
  });

  it('serves again after it was killed, with what it had', async () => {
    const namespace = await plane.namespace('rig');
    await plane.signal('SIGKILL');
    expect(await plane.call({ path: '/readyz' }).catch(() => 'away')).to.equal('away');
    await plane.restart();
    expect((await plane.call({ path: `/api/v1/namespaces/${namespace}` })).status).to.equal(200);
  });
});
