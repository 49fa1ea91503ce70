import { expect } from 'chai';
import fc from 'fast-check';
import { decide } from '../../api/policy/decide.ts';
import { createPolicyIndex } from '../../api/policy/policy-index.ts';
import type { PolicyIndex, Subject } from '../../api/policy/policy-index.ts';
import { countedSteps, sampleRequest, storedPolicy } from './policies.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A rule that does not look at the body, and two that do. */
const rules = {
  head: { engine: 'allow' },
  body: { engine: 'matcho', matcho: { body: { name: 'x' } } },
  changes: { engine: 'cel', expression: 'changes.all(field, field == "data")' },
};

const reports: Subject = { client: 'reports' };
const toReports = [{ resourceType: 'Client', id: 'reports' }];

function indexOf(...policies: readonly Fields[]): PolicyIndex {
  const index = createPolicyIndex();
  for (const fields of policies) index.set(storedPolicy({ engine: 'allow', ...fields }));
  return index;
}

function ids(index: PolicyIndex, subject: Subject): string[] {
  return index.candidates(subject).map(({ id }) => id);
}

describe('policy index', () => {
  const person: Subject = { client: 'web', user: { id: 7, groupIds: [1, 22], groupNames: ['staff', 'on call'] } };
  const reach: [what: string, policy: Fields, subject: Subject, reached: boolean][] = [
    ['a link to the client', { link: [{ resourceType: 'Client', id: 'web' }] }, person, true],
    ['a link to another client', { link: [{ resourceType: 'Client', id: 'webb' }] }, person, false],
    ['a link to the client in other letters', { link: [{ resourceType: 'Client', id: 'WEB' }] }, person, false],
    ['a link to the user', { link: [{ resourceType: 'User', id: '7' }] }, person, true],
    ['a link to another user', { link: [{ resourceType: 'User', id: '70' }] }, person, false],
    ['a link to a group by id', { link: [{ resourceType: 'Group', id: '22' }] }, person, true],
    ['a link to a group by name', { link: [{ resourceType: 'Group', id: 'on call' }] }, person, true],
    ['a link to another group', { link: [{ resourceType: 'Group', id: 'admins' }] }, person, false],
    ['a link to a client called like the user', { link: [{ resourceType: 'Client', id: '7' }] }, person, false],
    ['a link to a user numbered like the group', { link: [{ resourceType: 'User', id: '22' }] }, person, false],
    ['a link to a group of another box', { link: [{ resourceType: 'Group', id: 'other/staff' }] }, person, false],
    ['a link to an AccessPolicy', { link: [{ resourceType: 'AccessPolicy', id: 'web' }] }, person, false],
    ['a link to a Session', { link: [{ resourceType: 'Session', id: 'web' }] }, person, false],
    ['a link to nobody known', { link: [{ resourceType: 'Client', id: 'undefined' }] }, {}, false],
    [
      'one of many links',
      {
        link: [
          { resourceType: 'Client', id: 'a' },
          { resourceType: 'User', id: '7' },
        ],
      },
      person,
      true,
    ],
    ['subjects: authenticated, a user', { subjects: 'authenticated' }, person, true],
    ['subjects: authenticated, a client', { subjects: 'authenticated' }, reports, true],
    ['subjects: authenticated, nobody known', { subjects: 'authenticated' }, {}, false],
    ['subjects: anyone, nobody known', { subjects: 'anyone' }, {}, true],
    ['subjects: anyone, a user', { subjects: 'anyone' }, person, true],
    ['subjects: linked, and linked', { subjects: 'linked', link: toReports }, reports, true],
    ['subjects: a word that no version knows', { subjects: 'everyone', link: toReports }, reports, false],
  ];
  for (const [what, policy, subject, reached] of reach) {
    it(`${what}: ${reached ? 'a candidate' : 'none'}`, () => {
      expect(ids(indexOf(policy), subject)).to.deep.equal(reached ? ['p'] : []);
    });
  }

  for (const [what, policy] of [
    ['no link', {}],
    ['an empty link', { link: [] }],
    ['an empty link and subjects: linked', { link: [], subjects: 'linked' }],
  ] satisfies [string, Fields][]) {
    for (const rule of [
      { engine: 'allow' },
      { engine: 'matcho', matcho: {} },
      { engine: 'json-schema', schema: {} },
      { engine: 'cel', expression: 'true' },
      { engine: 'complex', or: [{ engine: 'allow' }] },
    ]) {
      it(`P-06 engine ${rule.engine} with ${what} grants to nobody`, () => {
        const index = indexOf({ ...policy, ...rule });
        for (const subject of [reports, person, {}, { client: '' }]) {
          expect(decide(index.candidates(subject), sampleRequest())).to.deep.equal({ granted: false });
        }
      });
    }
  }

  it('asks linked policies first, then by id, and none twice', () => {
    const index = indexOf(
      { id: 'a-anyone', subjects: 'anyone' },
      { id: 'b-known', subjects: 'authenticated' },
      { id: 'z-group', link: [{ resourceType: 'Group', id: 'staff' }] },
      {
        id: 'y-both',
        link: [
          { resourceType: 'Client', id: 'web' },
          { resourceType: 'User', id: '7' },
          { resourceType: 'Group', id: '1' },
        ],
      },
      { id: 'x-user', link: [{ resourceType: 'User', id: '7' }] },
    );
    expect(ids(index, person)).to.deep.equal(['x-user', 'y-both', 'z-group', 'a-anyone', 'b-known']);
  });

  it('R-05 asks first, of linked and of other policies, those that do not look at the body', () => {
    const index = indexOf(
      { id: 'a', link: toReports, ...rules.changes },
      { id: 'b', link: toReports, ...rules.body },
      { id: 'c', link: toReports, ...rules.head },
      { id: 'd', link: toReports, ...rules.head },
      { id: 'e', subjects: 'anyone', ...rules.body },
      { id: 'f', subjects: 'authenticated', ...rules.changes },
      { id: 'g', subjects: 'anyone', ...rules.head },
    );
    expect(ids(index, reports)).to.deep.equal(['c', 'd', 'a', 'b', 'g', 'e', 'f']);
    index.set(storedPolicy({ id: 'b', link: toReports, ...rules.head }));
    expect(ids(index, reports)).to.deep.equal(['b', 'c', 'd', 'a', 'g', 'e', 'f']);
  });

  it('P-05 a policy that is removed grants nothing from the next decision on', () => {
    const index = indexOf({ link: toReports });
    expect(decide(index.candidates(reports), sampleRequest())).to.deep.equal({ granted: true, policy: 'p' });
    index.remove('p');
    expect(decide(index.candidates(reports), sampleRequest())).to.deep.equal({ granted: false });
    index.remove('p');
    expect(index.size).to.equal(0);
  });

  const narrower: [what: string, policy: Fields][] = [
    ['whose link is removed', { link: [{ resourceType: 'Client', id: 'another' }] }],
    ['whose links are all removed', { link: [] }],
    ['that loses its links', {}],
    ['whose rule changes', { link: toReports, engine: 'matcho', matcho: { uri: '/other' } }],
    ['whose rule becomes invalid', { link: toReports, engine: 'cel', expression: '1 +' }],
    ['whose engine becomes unknown', { link: toReports, engine: 'rego' }],
  ];
  for (const [what, policy] of narrower) {
    it(`P-05 a policy ${what} does not grant from the next decision on`, () => {
      for (const before of [{ link: toReports }, { subjects: 'anyone' }, { subjects: 'authenticated' }]) {
        const index = indexOf(before);
        expect(decide(index.candidates(reports), sampleRequest()).granted).to.be.true;
        index.set(storedPolicy({ engine: 'allow', ...policy }));
        expect(decide(index.candidates(reports), sampleRequest())).to.deep.include({ granted: false });
        expect(index.size).to.equal(1);
      }
    });
  }

  const MANY = 10_000;
  const numbered = (at: number) => `p${String(at).padStart(5, '0')}`;

  it('P-07 of 10,000 links, each client asks one policy', () => {
    const link = Array.from({ length: MANY }, (_, at) => ({ resourceType: 'Client', id: `c${at}` }));
    const index = indexOf({ link });
    for (const at of [0, 1, MANY / 2, MANY - 1]) {
      expect(ids(index, { client: `c${at}` })).to.deep.equal(['p']);
    }
    expect(ids(index, { client: `c${MANY}` })).to.deep.equal([]);
  });

  it('P-07 of 10,000 policies on one client, one is asked when the first grants', () => {
    const index = indexOf(...Array.from({ length: MANY }, (_, at) => ({ id: numbered(MANY - at), link: toReports })));
    const candidates = index.candidates(reports);
    expect(decide(candidates, sampleRequest())).to.deep.equal({ granted: true, policy: numbered(1) });
    expect(candidates.filter(({ isCompiled }) => isCompiled)).to.have.length(1);
  });

  it('P-07 of 10,000 policies on one client, each is asked once when only the last grants', () => {
    const rule = { engine: 'matcho', matcho: { uri: '/other' }, link: toReports };
    const index = indexOf(...Array.from({ length: MANY - 1 }, (_, at) => ({ id: numbered(at), ...rule })), {
      id: 'z',
      link: toReports,
    });
    const candidates = index.candidates(reports);
    expect(decide(candidates, sampleRequest(), countedSteps())).to.deep.equal({ granted: true, policy: 'z' });
    expect(candidates).to.have.length(MANY);
  });

  it('P-07 10,000 policies on other clients are not asked', () => {
    const index = indexOf(
      ...Array.from({ length: MANY }, (_, at) => ({
        id: numbered(at),
        link: [{ resourceType: 'Client', id: `c${at}` }],
      })),
      { id: 'mine', link: toReports },
    );
    expect(ids(index, reports)).to.deep.equal(['mine']);
  });

  it('finds after any changes what a search of all policies finds', () => {
    const id = fc.integer({ min: 0, max: 30 }).map(numbered);
    const target = fc.constantFrom<[string, string]>(
      ['Client', 'web'],
      ['Client', 'x'],
      ['User', '7'],
      ['Group', '1'],
      ['Group', 'staff'],
    );
    const link = fc.array(
      target.map(([resourceType, linked]) => ({ resourceType, id: linked })),
      { maxLength: 3 },
    );
    const rule = fc.constantFrom(...Object.values(rules));
    const subjects = fc.constantFrom(undefined, 'linked', 'authenticated', 'anyone');
    const fields = fc.record({ id, link, subjects, rule }).map(({ rule, ...others }) => ({ ...others, ...rule }));
    const change = fc.oneof(fields, fields, id);
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const index = createPolicyIndex();
        const model = new Map<string, Fields & { id: string; engine: string }>();
        for (const one of changes) {
          if (typeof one === 'string') {
            index.remove(one);
            model.delete(one);
          } else {
            index.set(storedPolicy(one));
            model.set(one.id, one);
          }
        }
        expect(index.size).to.equal(model.size);
        for (const subject of [person, reports, {}])
          expect(ids(index, subject)).to.deep.equal(searched(model, subject));
      }),
    );
  });
});

/** The order and reach of policies, computed the slow way. */
function searched(
  model: ReadonlyMap<string, Fields & { id: string; engine: string }>,
  { client, user }: Subject,
): string[] {
  const groups = [...(user?.groupIds ?? []), ...(user?.groupNames ?? [])].map((group) => `Group/${group}`);
  const mine = new Set([`Client/${client ?? ''}`, `User/${user?.id ?? ''}`, ...groups]);
  const byId = [...model.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  const sorted = [
    ...byId.filter(({ engine }) => engine === 'allow'),
    ...byId.filter(({ engine }) => engine !== 'allow'),
  ];
  const linked = sorted.filter(
    ({ subjects, link }) => (subjects ?? 'linked') === 'linked' && links(link).some((key) => mine.has(key)),
  );
  const known = client !== undefined || user !== undefined;
  const open = sorted.filter(({ subjects }) => subjects === 'anyone' || (subjects === 'authenticated' && known));
  return [...linked, ...open].map(({ id }) => id);
}

function links(link: unknown): string[] {
  return Array.isArray(link)
    ? link.map((one: { resourceType: string; id: string }) => `${one.resourceType}/${one.id}`)
    : [];
}
