import { expect } from 'chai';
import type { NamespaceClaim } from '../../../api/client/desired-state.ts';
import { machineClient } from '../declare.ts';
import { eachInBox, type PassRig } from '../pass-rig.ts';

describe('a box whose namespace was created again', () => {
  const app = machineClient('app', { secret: 'of-app' });
  let rig: PassRig;
  eachInBox((made) => (rig = made));

  /** A pass in a namespace, of which the list may not have told yet. */
  async function passIn(claim: NamespaceClaim, told = claim): Promise<string> {
    const { list } = rig.source;
    rig.source.namespaceOf = () => Promise.resolve(claim);
    rig.source.list = async (box, signal) => {
      const hosts = { allowed: [], refused: [] };
      return { ...(await list(box, signal)), tenancy: { claim: told, isTerminating: false, hosts } };
    };
    await rig.pass([{ ...app, uid: `uid-in-${claim.uid}` }], 'everything');
    rig.source.list = list;
    return `${String(rig.condition('Client/app'))} ${String(await rig.token('app', 'of-app'))}`;
  }

  it('P-14 is locked: none of its clients gets a token, and each says why and what to do', async () => {
    expect(await passIn({ uid: 'one' })).to.equal('True/Ready 200');
    expect(await passIn({ uid: 'two' })).to.equal('False/NamespaceRecreated 401');
    const [ready] = rig.source.statuses.get('Client/app')?.conditions ?? [];
    expect(ready?.message).to.contain('boxgate.dev/adopt-uid=one').and.to.contain('boxgate.dev/discard-uid=one');
  });

  it('P-14 is locked by the first pass, though the list has not told of the new namespace yet', async () => {
    expect(await passIn({ uid: 'one' })).to.equal('True/Ready 200');
    expect(await passIn({ uid: 'two' }, { uid: 'one' })).to.equal('False/NamespaceRecreated 401');
  });

  for (const [what, spec] of [
    ['suspended', { suspend: true }],
    ['invalid', { grant_types: ['made-up'] }],
  ] as const) {
    it(`R-B2 is locked at once, though its only object is ${what} and nothing is to be applied`, async () => {
      expect(await passIn({ uid: 'one' })).to.equal('True/Ready 200');
      rig.source.namespaceOf = () => Promise.resolve({ uid: 'two' });
      const { list } = rig.source;
      const tenancy = { claim: { uid: 'two' }, isTerminating: false, hosts: { allowed: [], refused: [] } };
      rig.source.list = async (box, signal) => ({ ...(await list(box, signal)), tenancy });
      const idle = machineClient('app', { secret: 'of-app', ...spec });
      await rig.pass([{ ...idle, uid: 'uid-in-one', resourceVersion: what }], 'changes');
      expect(await rig.token('app', 'of-app')).to.equal(401);
    });
  }

  for (const word of ['adopt', 'discard'] as const) {
    it(`P-14 goes on once an admin says ${word}, and not before`, async () => {
      await passIn({ uid: 'one' });
      expect(await passIn({ uid: 'two', [word]: 'another' })).to.equal('False/NamespaceRecreated 401');
      expect(await passIn({ uid: 'two', [word]: 'one' })).to.equal('True/Ready 200');
    });
  }
});
