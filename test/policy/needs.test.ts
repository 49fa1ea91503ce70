import { expect } from 'chai';
import { decide, decideUpTo } from '../../api/policy/decide.ts';
import { isMore, mostOf } from '../../api/policy/needs.ts';
import type { Needs } from '../../api/policy/needs.ts';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import type { PolicyIndex } from '../../api/policy/policy-index.ts';
import { compiled, sampleRequest, storedPolicy } from './policies.ts';

type Fields = Readonly<Record<string, unknown>>;

const link = [{ resourceType: 'Client', id: 'reports' }];

function deep(levels: number): unknown {
  return levels === 0 ? 'x' : { a: deep(levels - 1) };
}

describe('what a policy looks at', () => {
  const cases: readonly [what: string, policy: Fields, needs: Needs][] = [
    ['allow', { engine: 'allow' }, 'head'],
    ['an unknown engine', { engine: 'rego', matcho: { body: 1 } }, 'head'],
    ['json-schema, whatever it says', { engine: 'json-schema', schema: {} }, 'changes'],
    ['matcho without the body', { engine: 'matcho', matcho: { uri: '#^/body', params: { a: 'body' } } }, 'head'],
    ['matcho that is missing', { engine: 'matcho' }, 'head'],
    ['matcho with the body', { engine: 'matcho', matcho: { body: { name: 'x' } } }, 'body'],
    ['matcho with changes', { engine: 'matcho', matcho: { changes: { $every: 'email' } } }, 'changes'],
    ['matcho with both', { engine: 'matcho', matcho: { changes: 'nil?', body: 'nil?' } }, 'changes'],
    ['matcho with the body under $not', { engine: 'matcho', matcho: { $not: { body: 'nil?' } } }, 'body'],
    [
      'matcho with the body in $one-of',
      { engine: 'matcho', matcho: { '$one-of': [{ uri: '/' }, { body: 1 }] } },
      'body',
    ],
    ['matcho with a path into the body', { engine: 'matcho', matcho: { user: { id: '.body.id' } } }, 'body'],
    ['matcho with the path .body', { engine: 'matcho', matcho: { user: '.body' } }, 'body'],
    ['matcho with the path .changes.0', { engine: 'matcho', matcho: { uri: '.changes.0' } }, 'changes'],
    ['matcho with the path .bodyguard', { engine: 'matcho', matcho: { uri: '.bodyguard' } }, 'head'],
    ['matcho that nests too deep to be valid', { engine: 'matcho', matcho: deep(100) }, 'changes'],
    ['CEL without the body', { engine: 'cel', expression: 'uri == "/x" || somebody' }, 'head'],
    ['CEL that is no text', { engine: 'cel', expression: 7 }, 'head'],
    ['CEL with the body', { engine: 'cel', expression: 'has(body.name)' }, 'body'],
    ['CEL with changes', { engine: 'cel', expression: 'body != null && changes.size() == 1' }, 'changes'],
    ['complex of rules that do not look', { engine: 'complex', or: [{ engine: 'allow' }] }, 'head'],
    [
      'complex with one rule that looks',
      { engine: 'complex', and: [{ engine: 'allow' }, { engine: 'cel', expression: 'body.x' }] },
      'body',
    ],
    ['complex with a JSON Schema', { engine: 'complex', or: [{ engine: 'json-schema', schema: {} }] }, 'changes'],
    ['complex without a list', { engine: 'complex', and: 'x' }, 'head'],
  ];
  for (const [what, policy, needs] of cases) {
    it(`R-05 ${what}: ${needs}`, () => {
      expect(compiled(policy).needs).to.equal(needs);
    });
  }

  it('R-05 is ordered: head, body, changes', () => {
    const order: readonly Needs[] = ['head', 'body', 'changes'];
    for (const [at, one] of order.entries()) {
      for (const [place, other] of order.entries()) {
        expect(isMore(one, other), `${one} and ${other}`).to.equal(at > place);
        expect(mostOf([one, other])).to.equal(order[Math.max(at, place)]);
      }
    }
    expect(mostOf([])).to.equal('head');
  });
});

describe('a decision over a part of a request', () => {
  function indexOf(...policies: readonly Fields[]): PolicyIndex {
    const index = createPolicyIndex();
    for (const fields of policies) index.set(storedPolicy({ link, ...fields }));
    return index;
  }
  const denying = { id: 'a', engine: 'matcho', matcho: { uri: '/other' } };
  const allowing = { id: 'b', engine: 'allow' };
  const byBody = { id: 'c', engine: 'matcho', matcho: { body: { name: 'good' } } };
  const byChanges = { id: 'd', engine: 'cel', expression: 'changes == ["name"]' };
  const open = { id: 'e', engine: 'allow', subjects: 'authenticated', link: [] };
  const reports = { client: 'reports' };
  /** Compiling takes no time: how long it really takes is the machine's. */
  const standing = { now: () => 0 };
  const byHead = (...policies: readonly Fields[]) =>
    decideUpTo(indexOf(...policies), reports, { known: 'head', request: sampleRequest() }, standing);

  it('R-05 is made without the body where no policy looks at it', () => {
    expect(byHead(denying, allowing)).to.deep.equal({ granted: true, policy: 'b' });
    expect(byHead(denying)).to.deep.equal({ granted: false });
    expect(byHead(denying, allowing, byBody)).to.deep.equal({ granted: true, policy: 'b' });
  });

  it('R-05 is open as soon as a policy is to be asked that looks at the body, and tells what all of them need', () => {
    expect(byHead(denying, byBody)).to.deep.equal({ undecided: 'body' });
    expect(byHead(denying, byBody, byChanges)).to.deep.equal({ undecided: 'changes' });
    expect(byHead(byBody, open)).to.deep.equal({ undecided: 'body' });
  });

  it('R-05 is that over the whole request, once this is known', () => {
    const request = sampleRequest({ body: { name: 'bad' }, changes: ['name'] });
    const index = indexOf(denying, byBody, byChanges, open);
    expect(decideUpTo(index, reports, { known: 'body', request }, standing)).to.deep.equal({ undecided: 'changes' });
    expect(decideUpTo(index, reports, { known: 'changes', request }, standing)).to.deep.equal({
      granted: true,
      policy: 'd',
    });
    expect(decide(index, reports, request)).to.deep.equal({ granted: true, policy: 'd' });
  });
});
