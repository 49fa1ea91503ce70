import { expect } from 'chai';
import { NEEDED_RIGHTS, rightName } from '../../../../operator/kube/client/rights.ts';
import { kubectl } from '../../../support/cluster/install-crds.ts';
import { eventually } from '../../../support/eventually.ts';
import { operatorNamespace, type TestOperator } from '../../../support/operator-process.ts';
import { declaredRights } from './declared-rights.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';

describe('R-28 an operator without its rights', () => {
  let rig: OperatorRig;
  let replicas: readonly TestOperator[];
  before(async () => {
    rig = await startOperatorRig();
    replicas = [await rig.operator(), await rig.operator()];
  });
  after(() => rig.stop());

  const readiness = () =>
    Promise.all(
      replicas.map(async ({ healthUrl }) => {
        const answer = await fetch(`${healthUrl}/readyz`);
        return { status: answer.status, text: await answer.text() };
      }),
    );

  /** The metric on which BoxgateRightsMissing is based, of each replica. */
  const counted = () =>
    Promise.all(
      replicas.map(async ({ healthUrl }) => {
        const page = await (await fetch(`${healthUrl}/metrics`)).text();
        return Number(/^boxgate_operator_missing_rights (\d+)$/m.exec(page)?.[1]);
      }),
    );

  it('counts no right on the Secrets of one namespace as missing: the Client there says it', async () => {
    const box = await rig.box({ secrets: false });
    await rig.put('Client', box, 'app', { grant_types: ['client_credentials'] });
    await eventually(
      'the Client says it',
      async () => (await rig.condition('Client', box, 'app', 'Ready')) === 'False/SecretForbidden',
    );
    expect(await counted()).to.deep.equal([0, 0]);
  });

  it('is not ready, whichever replica is asked, says which right is missing, and goes on when it is given back', async () => {
    const box = await rig.box();
    await rig.put('Box', box, 'box', {});
    await rig.ready('Box', box, 'box');
    await eventually('both are ready', async () => (await readiness()).every(({ status }) => status === 200));

    await kubectl(rig.plane, 'delete', 'clusterrolebinding', 'boxgate-operator');
    await eventually('none is ready', async () => (await readiness()).every(({ status }) => status === 503));
    for (const { text } of await readiness()) {
      expect(text).to.contain('list clients.boxgate.dev').and.contain('patch clients.boxgate.dev/status');
      expect(text).to.contain('helm upgrade').and.contain('apply operator/rbac/cluster-role.yaml');
    }
    const logged = () =>
      replicas.map(({ lines }) => lines.filter((line) => line.includes('rights of the operator are missing')).length);
    await eventually('each has logged it once', () => logged().join() === '1,1');
    await eventually('an Event names the right', async () => {
      const told = await kubectl(rig.plane, '-n', operatorNamespace, 'get', 'events', '-o', 'json');
      return told.includes('RightsMissing') && told.includes('list clients.boxgate.dev');
    });
    expect(Math.min(...(await counted()))).to.be.greaterThan(10);
    await rig.put('Client', box, 'app', { grant_types: ['client_credentials'], secret: 'a-secret-of-the-app' });

    await kubectl(rig.plane, 'apply', '-f', 'operator/rbac/cluster-role.yaml');
    await rig.ready('Client', box, 'app');
    await eventually('both are ready', async () => (await readiness()).every(({ status }) => status === 200));
    expect(await counted()).to.deep.equal([0, 0]);
  });

  it('knows the rights that operator/rbac gives for what is declared', () => {
    const given = declaredRights().filter(
      ({ role, group, resource }) =>
        role.name === 'boxgate-operator' &&
        role.kind === 'ClusterRole' &&
        (group === 'boxgate.dev' || resource === 'namespaces'),
    );
    const names = given.map(({ verb, group = '', resource }) => rightName({ verb, group, resource }));
    expect(NEEDED_RIGHTS.map(rightName)).to.have.members(names);
  });
});
