import { expect } from 'chai';
import fc from 'fast-check';
import { decide, explain } from '../../api/policy/decide.ts';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import type { PolicyIndex } from '../../api/policy/policy-index.ts';
import { STEPS_PER_DECISION } from '../../api/policy/steps.ts';
import { countedSteps, sampleRequest, storedPolicy } from './policies.ts';

const reports = { client: 'reports' };
const link = [{ resourceType: 'Client', id: 'reports' }];

const YES = { engine: 'allow', link };
const NO = { engine: 'matcho', matcho: { uri: '/other' }, link };
const INVALID = { engine: 'matcho', matcho: { user: { $foo: 1 } }, link };
const FAILS = { engine: 'cel', expression: 'user.id == 1', link };
const ENDLESS = { engine: 'cel', expression: 'body.all(x, body.all(y, true))', link };

function indexOf(policies: Readonly<Record<string, Readonly<Record<string, unknown>>>>): PolicyIndex {
  const index = createPolicyIndex();
  for (const [id, fields] of Object.entries(policies)) index.set(storedPolicy({ id, ...fields }));
  return index;
}

describe('decision', () => {
  it('P-01 a new client, which no policy concerns, is granted nothing', () => {
    const index = indexOf({ others: { engine: 'allow', link: [{ resourceType: 'Client', id: 'another' }] } });
    for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE']) {
      for (const uri of ['/', '/Client', '/Client/reports', '/AccessPolicy', '/Session', '/users']) {
        expect(decide(index, reports, sampleRequest({ method, uri }))).to.deep.equal({ granted: false });
        expect(decide(createPolicyIndex(), reports, sampleRequest({ method, uri }))).to.deep.equal({ granted: false });
      }
    }
  });

  const rows: [what: string, policies: Parameters<typeof indexOf>[0], decision: object][] = [
    ['no policy', {}, { granted: false }],
    ['one that grants', { a: YES }, { granted: true, policy: 'a' }],
    ['one that does not', { a: NO }, { granted: false }],
    ['the first that grants is named', { a: NO, c: YES, b: YES }, { granted: true, policy: 'b' }],
    ['an invalid one', { a: INVALID }, { granted: false }],
    ['an invalid one beside one that grants', { a: INVALID, b: YES }, { granted: true, policy: 'b' }],
    ['one that fails', { a: FAILS }, { granted: false }],
    ['one that fails beside one that grants', { a: FAILS, b: YES }, { granted: true, policy: 'b' }],
    ['one that never ends beside one that grants', { a: ENDLESS, b: YES }, { granted: true, policy: 'b' }],
  ];
  for (const [what, policies, decision] of rows) {
    it(`${what}: ${JSON.stringify(decision)}`, () => {
      const request = sampleRequest({ body: Array(2000).fill(1) });
      expect(decide(indexOf(policies), reports, request)).to.deep.equal(decision);
      expect(explain(indexOf(policies), reports, request)).to.deep.include(decision);
    });
  }

  it('explains every candidate, those after the deciding one included', () => {
    const index = indexOf({ a: NO, b: INVALID, c: FAILS, d: YES, e: YES, f: { ...YES, link: [] } });
    expect(explain(index, reports, sampleRequest())).to.deep.equal({
      granted: true,
      policy: 'd',
      candidates: [
        { policy: 'a', engine: 'matcho', granted: false },
        {
          policy: 'b',
          engine: 'matcho',
          granted: false,
          fault: 'matcho.user.$foo: is not a known word; the words are $enum, $one-of, $not, $contains, $every, $cidr',
        },
        { policy: 'c', engine: 'cel', granted: false, fault: 'line 1, column 5: field not found: id' },
        { policy: 'd', engine: 'allow', granted: true },
        { policy: 'e', engine: 'allow', granted: true },
      ],
    });
  });

  it('shares the steps of one decision among its candidates', () => {
    const walk = { engine: 'cel', expression: 'body.all(x, x == 1) && false', link };
    const index = indexOf(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`p${at}`, walk])));
    const { candidates } = explain(index, reports, sampleRequest({ body: Array(5000).fill(1) }), countedSteps());
    expect(candidates[0]?.fault).to.equal(undefined);
    expect(candidates.at(-1)?.fault).to.contain(`${STEPS_PER_DECISION} steps`);
    const last = indexOf({
      ...Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`p${at}`, walk])),
      z: { ...walk, expression: 'body.all(x, x == 1)' },
    });
    expect(decide(last, reports, sampleRequest({ body: Array(5000).fill(1) }))).to.deep.equal({ granted: false });
    expect(decide(last, reports, sampleRequest({ body: [1] }))).to.deep.equal({ granted: true, policy: 'z' });
  });

  it('an explanation and a decision agree, whatever the policies', () => {
    const kind = fc.constantFrom(YES, NO, INVALID, FAILS);
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), kind, { maxKeys: 6 }), (policies) => {
        const { candidates, ...decision } = explain(indexOf(policies), reports, sampleRequest());
        expect(decide(indexOf(policies), reports, sampleRequest())).to.deep.equal(decision);
        expect(candidates).to.have.length(Object.keys(policies).length);
        expect(decision.granted).to.equal(Object.values(policies).includes(YES));
      }),
    );
  });
});
