import { expect } from 'chai';
import fc from 'fast-check';
import { decide, decideInTime, explain } from '../../api/policy/decide.ts';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import type { PolicyIndex } from '../../api/policy/policy-index.ts';
import { Steps, STEPS_PER_DECISION } from '../../api/policy/steps.ts';
import { askedOneByOne } from './asked-one-by-one.ts';
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
        expect(decide(index.candidates(reports), sampleRequest({ method, uri }))).to.deep.equal({ granted: false });
        expect(decide(createPolicyIndex().candidates(reports), sampleRequest({ method, uri }))).to.deep.equal({
          granted: false,
        });
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
      expect(decide(indexOf(policies).candidates(reports), request)).to.deep.include(decision);
      expect(explain(indexOf(policies).candidates(reports), request)).to.deep.include(decision);
    });
  }

  it('explains every candidate, those after the deciding one included', () => {
    const index = indexOf({ a: NO, b: INVALID, c: FAILS, d: YES, e: YES, f: { ...YES, link: [] } });
    expect(explain(index.candidates(reports), sampleRequest())).to.deep.equal({
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
    const { candidates } = explain(
      index.candidates(reports),
      sampleRequest({ body: Array(5000).fill(1) }),
      countedSteps(),
    );
    expect(candidates[0]?.fault).to.equal(undefined);
    expect(candidates.at(-1)?.fault).to.contain(`${STEPS_PER_DECISION} steps`);
    const last = indexOf({
      ...Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`p${at}`, walk])),
      z: { ...walk, expression: 'body.all(x, x == 1)' },
    });
    expect(decide(last.candidates(reports), sampleRequest({ body: Array(5000).fill(1) }))).to.deep.include({
      granted: false,
    });
    const afterwards = decide(last.candidates(reports), sampleRequest({ body: [1] }), countedSteps());
    expect(afterwards).to.deep.equal({ granted: true, policy: 'z' });
  });

  it('an explanation and a decision agree, whatever the policies', () => {
    const kind = fc.constantFrom(YES, NO, INVALID, FAILS);
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), kind, { maxKeys: 6 }), (policies) => {
        const { candidates, ...decision } = explain(indexOf(policies).candidates(reports), sampleRequest());
        expect(decide(indexOf(policies).candidates(reports), sampleRequest())).to.deep.include(decision);
        expect(candidates).to.have.length(Object.keys(policies).length);
        expect(decision.granted).to.equal(Object.values(policies).includes(YES));
      }),
    );
  });

  /** A rule that uses up the steps, and a thousand after it that would need a few. */
  const endless = { engine: 'cel', expression: 'headers.all(x, headers.all(y, true))', link };
  const costly = { a: endless, ...Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`b${at}`, NO])) };
  const headers = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`x-${at}`, '']));

  it('R-01 once the steps are used up, asks and compiles no policy that needs some', () => {
    for (const last of [{}, { z: YES }, { z: { engine: 'complex', link, or: [NO, { engine: 'allow' }] } }]) {
      const index = indexOf({ ...costly, ...last });
      const candidates = index.candidates(reports);
      const decision = { granted: 'z' in last, ...('z' in last && { policy: 'z' }) };
      expect(decide(candidates, sampleRequest({ headers }), countedSteps())).to.deep.include(decision);
      const asked = candidates.filter(({ isCompiled }) => isCompiled).map(({ id }) => id);
      expect(asked).to.deep.equal('z' in last ? ['a', 'z'] : ['a']);
    }
  });

  it('R-01 an explanation says of each policy after the end of the steps that it gave up, and asks none', () => {
    const alone = new CountedCalls();
    const [{ fault } = {}] = explain(
      indexOf({ a: endless }).candidates(reports),
      sampleRequest({ headers }),
      alone,
    ).candidates;
    const steps = new CountedCalls();
    const { candidates } = explain(
      indexOf({ ...costly, z: YES }).candidates(reports),
      sampleRequest({ headers }),
      steps,
    );
    expect(candidates.slice(1)).to.deep.equal([
      ...Object.keys(costly)
        .slice(1)
        .toSorted()
        .map((policy) => ({ policy, engine: 'matcho', granted: false, fault })),
      { policy: 'z', engine: 'allow', granted: true },
    ]);
    expect(steps.calls).to.equal(alone.calls);
  });

  it('R-01 asks no rule after the time of the decision, which finding policies takes from too', () => {
    const index = indexOf(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, INVALID])));
    const candidates = index.candidates(reports);
    let readings = 0;
    const steps = new Steps(undefined, () => ({ isOver: () => (readings += 1) === 2 }));
    decide(candidates, sampleRequest(), steps);
    expect(steps.isOutOfTime).to.be.true;
    expect(candidates.filter(({ isCompiled }) => isCompiled).length).to.be.lessThan(1100);
  });

  it('is made once more after the time was used up, over the same candidates', async () => {
    const index = indexOf({ a: { engine: 'cel', expression: 'headers.all(x, true)', link } });
    const isOver = [true, false].values();
    const steps = () => {
      const { value = true } = isOver.next();
      return new Steps(undefined, () => ({ isOver: () => value }));
    };
    const deciding = decideInTime(index.candidates(reports), sampleRequest({ headers }), steps);
    index.remove('a');
    expect(await deciding).to.deep.equal({ granted: true, policy: 'a' });
  });

  it('is made twice at most', async () => {
    const index = indexOf({ a: { engine: 'cel', expression: 'headers.all(x, true)', link } });
    const steps = () => new Steps(undefined, () => ({ isOver: () => true }));
    const decision = await decideInTime(index.candidates(reports), sampleRequest({ headers }), steps);
    expect(decision).to.deep.include({ granted: false, isOutOfTime: true });
  });

  it('R-01 decides with few steps what asking each policy decides', () => {
    const kind = fc.constantFrom(...kinds);
    const reach = fc.constantFrom<object>({ link }, { subjects: 'anyone' });
    const policy = fc.record({ id: fc.stringMatching(/^[a-z]{1,2}$/), kind, reach });
    const policies = fc
      .uniqueArray(policy, { maxLength: 12, selector: ({ id }) => id })
      .map((all) => all.map(({ id, kind: rule, reach: to }) => storedPolicy({ ...rule, ...to, id })));
    fc.assert(
      fc.property(policies, fc.nat(150), (all, allowed) => {
        const index = createPolicyIndex();
        for (const one of all) index.set(one);
        const request = sampleRequest({ body: [1, 2] });
        const few = () => new Steps(allowed, () => ({ isOver: () => false }));
        const expected = askedOneByOne(all, request, few());
        expect(decide(index.candidates(reports), request, few())).to.deep.equal(expected.decision);
        expect(explain(index.candidates(reports), request, few()).candidates).to.deep.equal(expected.candidates);
      }),
      { numRuns: 500 },
    );
  });
});

/** Rules of each kind: of some no answer, or none that is true, can be had without steps. */
const FITS = { engine: 'matcho', matcho: {} };
const COSTLY = { engine: 'cel', expression: 'headers.all(x, headers.all(y, true)) && false' };
const ALLOW = { engine: 'allow' };
const kinds: readonly object[] = [
  ALLOW,
  FITS,
  COSTLY,
  NO,
  INVALID,
  FAILS,
  { engine: 'cel', expression: 'body.all(x, body.all(y, true))' },
  { engine: 'json-schema', schema: {} },
  { engine: 'json-schema', schema: { $ref: '#/$defs/a', $defs: { a: {} } } },
  { engine: 'json-schema', schema: { not: { not: {} } } },
  { engine: 'rego' },
  { engine: 'complex' },
  { engine: 'complex', and: [] },
  { engine: 'complex', and: 'allow' },
  { engine: 'complex', or: ['allow'] },
  { engine: 'complex', and: [ALLOW], or: [ALLOW] },
  { engine: 'complex', and: [ALLOW, ALLOW] },
  { engine: 'complex', and: [ALLOW, FITS] },
  { engine: 'complex', or: [FITS, ALLOW] },
  { engine: 'complex', or: [COSTLY, ALLOW] },
  { engine: 'complex', or: [{ engine: 'json-schema', schema: { required: ['body'] } }, ALLOW] },
  { engine: 'complex', or: [INVALID, ALLOW] },
  { engine: 'complex', or: [FAILS, COSTLY] },
  { engine: 'complex', or: [COSTLY, FITS] },
];

/** Steps that count how often rules take some. */
class CountedCalls extends Steps {
  calls = 0;

  constructor() {
    super(undefined, () => ({ isOver: () => false }));
  }

  override take(count: number): void {
    this.calls += 1;
    super.take(count);
  }
}
