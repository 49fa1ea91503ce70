import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { controlPlane, type ControlPlane } from '../../../support/cluster/control-plane.ts';
import { applyCrds, installCrds } from '../../../support/cluster/install-crds.ts';
import { eventually } from '../../../support/eventually.ts';
import { startLoggedProcess } from '../../../support/logged-process.ts';
import { removeObjects } from '../../remove-objects.ts';
import { acceptAnySpec } from './any-definition.ts';

const FINALIZER = 'boxgate.dev/finalizer';
const group = '/apis/boxgate.dev/v1';
const kindOf = { boxes: 'Box', clients: 'Client', groups: 'Group' } as const;

describe('boxgate operator --release-finalizers', () => {
  let plane: ControlPlane;
  before(async () => {
    plane = await controlPlane();
    await installCrds(plane);
    await removeObjects(plane);
  });

  const create = (namespace: string, plural: keyof typeof kindOf, name: string, spec: object, query = '') =>
    plane.call({
      method: 'POST',
      path: `${group}/namespaces/${namespace}/${plural}${query}`,
      body: {
        apiVersion: 'boxgate.dev/v1',
        kind: kindOf[plural],
        metadata: { name, finalizers: [FINALIZER] },
        spec,
      },
    });

  async function finalizersOf(namespace: string, plural: string, name: string): Promise<unknown> {
    const { body } = await plane.call({ path: `${group}/namespaces/${namespace}/${plural}/${name}` });
    return isObject(body) && isObject(body['metadata']) ? body['metadata']['finalizers'] : 'not there';
  }

  const run = () =>
    startLoggedProcess(
      ['operator/main.ts', 'operator', '--release-finalizers'],
      { KUBECONFIG: plane.kubeconfig },
      (line) => /^released \d+ objects?$/.exec(line)?.[0],
    );

  it('releases every object that it can, and names each one that the API server refuses to change', async () => {
    const [first, second] = [await plane.namespace('kept'), await plane.namespace('refused')];
    const machine = { grant_types: ['client_credentials'] };
    for (const name of ['a', 'b']) {
      expect((await create(first, 'clients', name, machine)).status).to.equal(201);
      expect((await create(second, 'clients', name, machine)).status).to.equal(201);
    }
    expect((await create(first, 'groups', 'a', {})).status).to.equal(201);
    await acceptAnySpec(plane, 'Box');
    await eventually('anything is accepted', async () => {
      return (await create(second, 'boxes', 'box', { hosts: 7, signing: 'none' })).status === 201;
    });
    await applyCrds(plane);
    await eventually('the definition is ours again', async () => {
      return (await create(first, 'boxes', 'box', { hosts: 7 }, '?dryRun=All')).status === 422;
    });

    const refused = await run();
    expect(await refused.ended).to.equal(1);
    expect(refused.found).to.equal('released 5 objects');
    for (const namespace of [first, second]) {
      for (const name of ['a', 'b']) expect(await finalizersOf(namespace, 'clients', name)).to.equal(undefined);
    }
    expect(await finalizersOf(first, 'groups', 'a')).to.equal(undefined);
    expect(await finalizersOf(second, 'boxes', 'box')).to.deep.equal([FINALIZER]);
    const [told, ...more] = refused.lines.filter((line) => line.startsWith('boxgate: '));
    expect(more).to.deep.equal([]);
    expect(told).to.equal(
      `boxgate: Box ${second}/box keeps its finalizer: the API server refuses to change it (status 422). ` +
        `Correct it (kubectl edit boxes.boxgate.dev box --namespace ${second} tells what is wrong), then run this command again`,
    );

    const path = `${group}/namespaces/${second}/boxes/box`;
    const body = { spec: { hosts: null, signing: null } };
    await plane.call({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    const corrected = await run();
    expect(await corrected.ended).to.equal(0);
    expect(corrected.found).to.equal('released 1 object');
    expect(await finalizersOf(second, 'boxes', 'box')).to.equal(undefined);
  });
});
