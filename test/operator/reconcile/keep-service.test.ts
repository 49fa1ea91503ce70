import { expect } from 'chai';
import type { ServiceState } from '../../../operator/desired/source.ts';
import { declared, machineClient } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

const client = machineClient('app', { secret: 'a-secret-of-the-app' });
const forbidden: ServiceState = { state: 'missing', reason: 'ServiceForbidden', message: 'no right' };

describe('a pass over a box with a Service', () => {
  let rig: PassRig;
  let asked: string[];
  let state: ServiceState | undefined;
  eachInBox((next) => {
    rig = next;
    asked = [];
    state = { state: 'ready' };
    rig.source.keepService = (box) => {
      asked.push(box);
      return Promise.resolve(state);
    };
  });

  it('keeps it once, and then only in passes over everything', async () => {
    await rig.pass([client]);
    await rig.pass([client]);
    await rig.pass([machineClient('app', { secret: 'another-secret-of-it' })]);
    expect(asked).to.deep.equal([rig.box]);
    await rig.pass([client], 'everything');
    expect(asked).to.deep.equal([rig.box, rig.box]);
  });

  it('asks again in the next pass while nothing is known of it', async () => {
    state = undefined;
    await rig.pass([client]);
    await rig.pass([client]);
    expect(asked).to.have.length(2);
  });

  it('keeps what is known while the API server does not answer', async () => {
    state = forbidden;
    await rig.pass([client]);
    state = undefined;
    await rig.pass([client], 'everything');
    expect(rig.condition('Client/app', 'ServiceReady')).to.equal('False/ServiceForbidden');
  });

  it('leaves it alone when nothing is declared any more', async () => {
    await rig.pass([client]);
    await rig.pass([], 'everything');
    expect(asked).to.have.length(1);
  });

  it('shows a problem of it in the Box, and in Clients where there is no Box', async () => {
    state = forbidden;
    await rig.pass([client]);
    expect(rig.condition('Client/app', 'ServiceReady')).to.equal('False/ServiceForbidden');
    await rig.pass([client, declared('Box', 'box', {})]);
    expect(rig.condition('Client/app', 'ServiceReady')).to.equal(undefined);
    expect(rig.condition('Box/box', 'ServiceReady')).to.equal('False/ServiceForbidden');
    expect(rig.condition('Box/box')).to.equal('True/Ready');
  });
});
