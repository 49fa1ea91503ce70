import { isObject } from '../../../../crds/path.ts';
import { eventually } from '../../../support/eventually.ts';
import { bindSecrets } from '../../install-operator.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';

describe('rights on the Secrets of a namespace that are taken and given back', () => {
  let rig: OperatorRig;
  before(async () => {
    rig = await startOperatorRig();
    // No sweep: what is not told of is not found.
    await rig.operator({ BOXGATE_SWEEP_SECONDS: '3600' });
  });
  after(() => rig.stop());

  it('R-25 let a client that waits have its secret at once, also while the watch of the Secrets has not noticed', async () => {
    const box = await rig.box();
    const machine = { grant_types: ['client_credentials'] };
    await rig.put('Client', box, 'first', machine);
    await rig.ready('Client', box, 'first');
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${box}/rolebindings`;
    await rig.plane.call({ method: 'DELETE', path: `${path}/boxgate-box` });
    await eventually('the binding is gone', async () => {
      const { body } = await rig.plane.call({ path });
      return isObject(body) && Array.isArray(body['items']) && body['items'].length === 0;
    });
    let nth = 0;
    await eventually('a client waits for rights', async () => {
      // The API server may not have heard of the deletion at once.
      nth += 1;
      await rig.put('Client', box, `waiting-${String(nth)}`, machine);
      const said = () => rig.condition('Client', box, `waiting-${String(nth)}`, 'SecretReady');
      await eventually('it has a status', async () => !(await said()).startsWith('undefined'));
      return (await said()) === 'False/SecretForbidden';
    });
    await bindSecrets(rig.plane, box);
    await rig.ready('Client', box, `waiting-${String(nth)}`);
  });
});
