import { expect } from 'chai';
import { compiled, sampleRequest } from '../policies.ts';

describe('engine allow', () => {
  it('grants every request', () => {
    expect(compiled({ engine: 'allow' }).allows(sampleRequest())).to.be.true;
    expect(compiled({ engine: 'allow' }).fault).to.equal(undefined);
  });
});
