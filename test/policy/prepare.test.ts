import { expect } from 'chai';
import type { Needs } from '../../api/policy/needs.ts';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import { compileAhead, Missing, prepare, whenPrepared } from '../../api/policy/prepare.ts';
import { compiled, storedPolicy } from './policies.ts';

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
});

describe('what is missing before a decision', () => {
  const idsOf = (missing: Missing | undefined) => missing?.uncompiled.map(({ id }) => id);

  //
  it('is what 5 ms do not suffice to compile', async () => {
    const index = createPolicyIndex();
    for (const id of ['a', 'b', 'c']) index.set(storedPolicy(large(id)));
    let time = 0;
    const missing = prepare(index.candidates({}), 'changes', () => (time += 2));
    expect(idsOf(missing)).to.deep.equal(['c']);
    await compileAhead(missing?.uncompiled ?? []);
    expect(prepare(index.candidates({}), 'changes')).to.equal(undefined);
  });

  //
  it('is the most of a request that a candidate looks at', () => {
    const link = [{ resourceType: 'Client', id: 'reports' }];
    const index = createPolicyIndex();
    const add = (id: string, fields: object) => {
      index.set(storedPolicy({ id, link, ...fields }));
    };
    const needed = (known: Needs) => prepare(index.candidates({ client: 'reports' }), known, () => 0)?.needs;
    add('a', { engine: 'allow' });
    expect(needed('head')).to.equal(undefined);
    add('b', { engine: 'cel', expression: 'changes == ["name"]', link: [{ resourceType: 'Client', id: 'other' }] });
    expect(needed('head'), 'of a policy for another client').to.equal(undefined);
    add('c', { engine: 'matcho', matcho: { body: { name: 'good' } } });
    expect(needed('head')).to.equal('body');
    expect(needed('body')).to.equal(undefined);
    add('d', { engine: 'cel', expression: 'changes == ["name"]' });
    add('e', { engine: 'matcho', matcho: { body: 'nil?' }, link: [], subjects: 'authenticated' });
    expect(needed('head')).to.equal('changes');
    expect(needed('body')).to.equal('changes');
    expect(needed('changes')).to.equal(undefined);
  });

  it('is compiled and read before the next attempt', async () => {
    const policy = compiled(large('a'));
    const results = [new Missing('head', [policy]), new Missing('changes', []), 'granted'].values();
    const read: string[] = [];
    const result = await whenPrepared(
      () => Promise.resolve(results.next().value),
      (needs) => Promise.resolve(void read.push(needs)),
    );
    expect(result).to.equal('granted');
    expect(policy.isCompiled).to.be.true;
    expect(read).to.deep.equal(['head', 'changes']);
  });
});
