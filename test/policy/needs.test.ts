import { expect } from 'chai';
import { isMore, mostOf } from '../../api/policy/needs.ts';
import type { Needs } from '../../api/policy/needs.ts';
import { compiled } from './policies.ts';

type Fields = Readonly<Record<string, unknown>>;

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
