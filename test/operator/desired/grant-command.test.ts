import path from 'node:path';
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isObject } from '../../../crds/path.ts';
import { grantCommand } from '../../../operator/desired/candidates.ts';
import { HOSTS_ANNOTATION } from '../../../operator/desired/hosts.ts';
import { controlPlane } from '../../support/cluster/control-plane.ts';
import { findPrograms } from '../../../tools/envtest/find-programs.ts';

const run = promisify(execFile);

describe('the command by which an admin grants what a namespace lacks', () => {
  it('P-12 adds to what the namespace grants already, as pasted into a shell', async () => {
    const plane = await controlPlane();
    const box = await plane.namespace('granted');
    const PATH = `${path.dirname(findPrograms().kubectl)}:${process.env['PATH'] ?? ''}`;
    for (const hosts of [['a.test'], ['b.test', 'c.test']]) {
      const command = grantCommand(box, HOSTS_ANNOTATION, hosts);
      await run('sh', ['-c', command], {
        env: { PATH, KUBECONFIG: plane.kubeconfig, HOME: path.dirname(plane.kubeconfig) },
      });
    }
    const { body } = await plane.call({ path: `/api/v1/namespaces/${box}` });
    const metadata = isObject(body) && isObject(body['metadata']) ? body['metadata'] : {};
    expect(metadata['annotations']).to.have.property(HOSTS_ANNOTATION, ' a.test b.test c.test');
  });
});
