import { expect } from 'chai';
import { compileAhead, uncompiled } from '../../api/policy/compile-ahead.ts';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import { decideUpTo, type Decided } from '../../api/policy/decide.ts';
import { untilDecided } from '../../api/policy/until-decided.ts';
import { compiled, sampleRequest, storedPolicy } from './policies.ts';

/** 15 ms of work. */
function large(id: string) {
  const names = Array.from({ length: 100 }, (_, at): [string, unknown] => [
    `${id}${String(at)}`,
    { type: 'string', maxLength: 5 },
  ]);
  const schema = { properties: { params: { properties: Object.fromEntries(names) } }, required: ['user'] };
  return { id, engine: 'json-schema', subjects: 'anyone', schema };
}

describe('compiling ahead', () => {
  it('R-02 lets others have their turn between policies', async () => {
    const policies = Array.from({ length: 20 }, (_, at) => compiled(large(`p${String(at)}`)));
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await compileAhead(policies);
    isDone = true;
    expect(turns).to.be.greaterThan(4);
    expect(policies.every(({ isCompiled, fault }) => isCompiled && fault === undefined)).to.be.true;
  });

  it('R-02 a decision that has compiled for 5 ms names the policies that are left', async () => {
    const index = createPolicyIndex();
    for (const id of ['a', 'b', 'c']) index.set(storedPolicy(large(id)));
    let time = 0;
    const now = () => (time += 4);
    const decide = () => decideUpTo(index, {}, { known: 'changes', request: sampleRequest() }, { now });
    const first = decide();
    expect('uncompiled' in first && first.uncompiled.map(({ id }) => id)).to.deep.equal(['c']);
    await compileAhead(uncompiled(index, {}, 0));
    expect(decide()).to.deep.include({ granted: false });
  });

  it('R-02 repeats the decision over thousands of policies a few times only', async () => {
    const index = createPolicyIndex();
    for (let at = 0; at < 3200; at += 1) {
      index.set(storedPolicy({ id: String(at), engine: 'matcho', matcho: { uri: '/other' }, subjects: 'anyone' }));
    }
    let time = 0;
    const now = () => (time += 6);
    let attempts = 0;
    const decision = await untilDecided<Decided>(() => {
      attempts += 1;
      return Promise.resolve(decideUpTo(index, {}, { known: 'changes', request: sampleRequest() }, { now }));
    });
    expect(decision).to.deep.equal({ granted: false });
    expect(attempts).to.be.lessThan(10);
  });

  it('names fifty policies at most when few were asked before, otherwise as many', () => {
    const index = createPolicyIndex();
    for (let at = 0; at < 60; at += 1) index.set(storedPolicy(large(String(at))));
    expect(uncompiled(index, {}, 3)).to.have.length(50);
    expect(uncompiled(index, {}, 55)).to.have.length(55);
  });
});
