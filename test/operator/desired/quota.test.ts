import { expect } from 'chai';
import { readQuota } from '../../../operator/desired/candidates.ts';
import { declared, keyClient } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

describe('a pass over a box with quotas', () => {
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  const client = (name: string, created: string, spec: object = {}) =>
    declared('Client', name, { ...keyClient, ...spec }, { created });
  const [old, middle, young] = [client('z', '2026-01-01'), client('y', '2026-01-02'), client('x', '2026-01-03')];
  const box = declared('Box', 'box', {});

  it('R-53 refuses the youngest object beyond a quota and applies all else of the box', async () => {
    rig.source.quota = readQuota('clients=2');
    const policy = declared('AccessPolicy', 'p', { engine: 'allow' }, { created: '2026-01-04' });
    await rig.pass([young, middle, old, policy], 'everything');
    const ready = ['Client/x', 'Client/y', 'Client/z', 'AccessPolicy/p'].map((key) => rig.condition(key));
    expect(ready).to.deep.equal(['False/QuotaExceeded', 'True/Ready', 'True/Ready', 'True/Ready']);
    expect(rig.condition('Client/x', 'Valid')).to.equal('False/QuotaExceeded');
    expect(rig.condition('Client/x', 'Stalled')).to.equal(undefined);
    const valid = rig.source.statuses.get('Client/x')?.conditions.find(({ type }) => type === 'Valid');
    expect(valid?.message).to.contain('at most 2 clients').and.contain('boxgate.dev/quota');
  });

  it('R-53 applies what was beyond the quota once the Namespace raises it, and keeps what exists once it lowers it', async () => {
    rig.source.quota = readQuota('clients=1');
    await rig.pass([old, young], 'everything');
    expect(rig.condition('Client/x')).to.equal('False/QuotaExceeded');
    rig.source.quota = readQuota('clients=2');
    await rig.pass([old, young]);
    expect(rig.condition('Client/x')).to.equal('True/Ready');
    rig.source.quota = readQuota('clients=0');
    await rig.pass([old, young]);
    await rig.pass([old, young], 'everything');
    expect([rig.condition('Client/x'), rig.condition('Client/z')]).to.deep.equal(['True/Ready', 'True/Ready']);
  });

  it('R-53 applies what was beyond the quota once another object is deleted, without waiting for a sweep', async () => {
    rig.source.quota = readQuota('clients=1');
    await rig.pass([old, young], 'everything');
    rig.calls.length = 0;
    await rig.pass([old, young]);
    expect(rig.calls).to.deep.equal([]);
    await rig.pass([young]);
    expect(rig.condition('Client/x')).to.equal('True/Ready');
  });

  it('R-53 reports an annotation that cannot be read, by a condition and one event, and widens nothing', async () => {
    rig.source.quota = readQuota('clients=1');
    await rig.pass([box, old], 'everything');
    rig.source.quota = readQuota('clients=1000000,users=lots');
    await rig.pass([box, old, young]);
    await rig.pass([box, old, young], 'everything');
    expect(rig.condition('Client/x')).to.equal('False/QuotaExceeded');
    expect(rig.condition('Box/box', 'NotInForce')).to.equal('True/QuotaNotReadable');
    expect(rig.condition('Box/box')).to.equal('True/Ready');
    const annotated = rig.events.recorded.filter(({ isInStatus }) => isInStatus !== true);
    expect(annotated.map(({ reason }) => reason)).to.deep.equal(['QuotaNotReadable']);
    rig.source.quota = readQuota('clients=2');
    await rig.pass([box, old, young]);
    expect(rig.condition('Client/x')).to.equal('True/Ready');
    expect(rig.condition('Box/box', 'NotInForce')).to.equal(undefined);
  });

  it('R-53 tells of a mistake about the oldest object where there is no Box', async () => {
    rig.source.quota = readQuota('clients:1');
    await rig.pass([young, old], 'everything');
    expect(rig.events.recorded.map(({ object, reason }) => [object.name, reason])).to.deep.equal([
      ['z', 'QuotaNotReadable'],
    ]);
  });
});
