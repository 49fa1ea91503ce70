import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { startOperatorRig, type OperatorRig } from './operator-rig.ts';

describe('boxgate operator', () => {
  let rig: OperatorRig;
  let operator: OperatorProcess;
  before(async () => {
    rig = await startOperatorRig();
    operator = await rig.operatorProcess();
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

  it('shows the colour of a Box on its sign-in page, and refuses what is none at the API server', async () => {
    const box = await rig.box();
    await rig.put('Box', box, 'box', { sign_in: { color: '#b3005e' } });
    await rig.ready('Box', box, 'box');
    const page = await fetch(`${rig.api.url}/boxes/${box}/auth/signin`);
    expect(await page.text()).to.contain('--button: #b3005e;');
    const refused: unknown = await rig.put('Box', box, 'box', { sign_in: { color: 'pink' } }).catch(String);
    expect(refused).to.contain('sign_in.color must be # and six hexadecimal digits, such as \\"#1f5fbf\\"');
  });

  it('ends with 0 when it is asked to', async () => {
    expect(await operator.end('SIGTERM')).to.equal(0);
  });
});
