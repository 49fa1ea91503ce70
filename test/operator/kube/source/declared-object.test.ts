import { expect } from 'chai';
import { inspect } from 'node:util';
import { declaredObject, novelty } from '../../../../operator/kube/source/declared-object.ts';

const metadata = { namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '7', generation: 3 };

function kept(more: object) {
  return declaredObject('Client', { metadata, ...more }) ?? expect.fail('is no object');
}

describe('a declared object', () => {
  it('has a body with what we read of the object', () => {
    const { declared } = kept({ spec: { secret: 'hunter2' } });
    const { namespace, name, uid } = metadata;
    const body = { apiVersion: 'boxgate.dev/v1', kind: 'Client', metadata: { name, namespace, uid } };
    expect(declared.body()).to.deep.equal({ ...body, spec: { secret: 'hunter2' } });
    expect(kept({}).declared.body()).to.deep.equal(body);
    expect([declared.key, declared.place]).to.deep.equal(['Client/app', '']);
  });

  it('R-55: is another one where another definition shows another spec of the same generation', () => {
    const one = kept({ spec: { active: true, next_year: 'x' } });
    const other = kept({ spec: { active: true }, metadata: { ...metadata, resourceVersion: '8' } });
    expect(novelty.isSame(one, other)).to.equal(false);
    expect(one.declared.resourceVersion).to.not.equal(other.declared.resourceVersion);
    expect(other.declared.resourceVersion).to.equal(kept({ spec: { active: true } }).declared.resourceVersion);
  });

  it('shows nothing of its spec when it is printed', () => {
    const object = kept({ spec: { secret: 'hunter2' } });
    expect(`${inspect(object, { depth: 9, showHidden: true })}${JSON.stringify(object)}`).to.not.include('hunter2');
  });

  it('stays what it was declared as in a version with another status', () => {
    const known = kept({ spec: {}, status: { policies: 1 } });
    const next = kept({ spec: {}, status: { policies: 2 }, metadata: { ...metadata, resourceVersion: '8' } });
    expect(novelty.isSame(known, next)).to.equal(true);
    const carried = novelty.carry(known, next);
    expect(carried.declared).to.equal(known.declared);
    expect(JSON.parse(carried.status)).to.deep.equal({ policies: 2 });
    expect(carried).to.deep.include({ namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '8' });
  });
});
