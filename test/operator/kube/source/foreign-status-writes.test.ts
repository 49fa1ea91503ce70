import { expect } from 'chai';
import { declaredObject } from '../../../../operator/kube/source/declared-object.ts';
import { createForeignStatusWrites } from '../../../../operator/kube/source/status-writer.ts';

function client(status: object, uid = 'u') {
  const metadata = { namespace: 'shop', name: 'app', uid, resourceVersion: '7', generation: 1 };
  return declaredObject('Client', { metadata, spec: {}, status }) ?? expect.fail('is no object');
}

describe('statuses that others write', () => {
  const known = client({ id: 'app', conditions: [{ type: 'Ready', status: 'True' }] });

  it('are noted by the key of their object, until they are taken', () => {
    const { note, take } = createForeignStatusWrites();
    note(known, client({ id: 'wrong', conditions: [{ type: 'Ready', status: 'True' }] }));
    expect(take('shop')).to.deep.equal(['Client/app']);
    expect(take('shop')).to.deep.equal([]);
  });

  it('R-53 are not our own, which the API server shows with their members in another order', () => {
    const { note, take } = createForeignStatusWrites();
    note(known, client({ conditions: [{ status: 'True', type: 'Ready' }], id: 'app' }));
    expect(take('shop')).to.deep.equal([]);
  });

  it('are none of an object that is new', () => {
    const { note, take } = createForeignStatusWrites();
    note(undefined, known);
    note(known, client({}, 'another'));
    expect(take('shop')).to.deep.equal([]);
  });
});
