import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { startOperatorRig, type OperatorRig } from './operator-rig.ts';

describe('boxgate operator', () => {
  let rig: OperatorRig;
  let operator: OperatorProcess;
  before(async () => {
    rig = await startOperatorRig();
    operator = await rig.operator();
  });
  after(() => rig.stop());

  it('makes a declared client live, and takes it away when its object goes', async () => {
    const box = await rig.box();
    await rig.put('Client', box, 'app', { grant_types: ['client_credentials'], secret: 'a-secret-of-the-app' });
    await rig.ready('Client', box, 'app');
    expect(await rig.token(box, 'app', 'a-secret-of-the-app')).to.equal(200);
    await rig.remove('Client', box, 'app');
    await eventually('it gets no token', async () => (await rig.token(box, 'app', 'a-secret-of-the-app')) === 401);
  });

  it('ends with 0 when it is asked to', async () => {
    expect(await operator.end('SIGTERM')).to.equal(0);
  });
});
