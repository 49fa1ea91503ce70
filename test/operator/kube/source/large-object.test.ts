import { expect } from 'chai';
import { validate } from '../../../../operator/desired/validate.ts';
import { declaredObject } from '../../../../operator/kube/source/declared-object.ts';

describe('a custom resource that is too large', () => {
  const keptOf = (spec: object) =>
    declaredObject('Client', {
      metadata: { namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '1', generation: 1 },
      spec: { grant_types: ['client_credentials'], ...spec },
    })?.declared;

  it('R-53 is kept without its content, and says how large it may be', () => {
    const object = keptOf({ id: 'other', suspend: true, details: { text: 'x'.repeat(750_000) } });
    expect(JSON.stringify(object?.body()).length).to.be.below(300);
    expect(object && validate(object)).to.deep.include({ id: 'other', suspended: true });
    expect(object && validate(object).faults).to.deep.equal([
      { path: 'spec', message: 'must have at most 32768 characters as JSON: it has 750088' },
    ]);
  });

  it('R-53 is faulty as a whole where its details are too long', () => {
    const object = keptOf({ details: { text: 'x'.repeat(8_192) } });
    expect(object && validate(object).faults.map(({ path }) => path)).to.deep.equal(['spec.details']);
  });

  it('R-53 is applied up to the limit', () => {
    const object = keptOf({ details: { text: 'x'.repeat(8_181) } });
    expect(object && validate(object).faults).to.deep.equal([]);
  });
});
