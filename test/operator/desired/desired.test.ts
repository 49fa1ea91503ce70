import { expect } from 'chai';
import { createSecretKey } from 'node:crypto';
import { Secret } from '../../../api/client/secret.ts';
import { contests, desiredOf, intentOf, type Candidate } from '../../../operator/desired/desired.ts';
import type { ResolvedSecret } from '../../../operator/secrets/resolve.ts';
import type { Declared } from '../../../operator/desired/declared.ts';
import { validate } from '../../../operator/desired/validate.ts';
import { declared, desired, machineClient } from '../declare.ts';

function candidate(name: string, id: string, fields: Partial<Declared> = {}): Candidate {
  const object = { ...machineClient(name, { id }), ...fields };
  return { object, validated: validate(object) };
}

describe('contests', () => {
  const cases: [title: string, candidates: Candidate[], losers: Record<string, string>][] = [
    ['nobody loses where every id is declared once', [candidate('a', 'x'), candidate('b', 'y')], {}],
    [
      'C-09 the oldest has the id, whatever the order of the list',
      [candidate('young', 'x', { created: '2026-02' }), candidate('old', 'x', { created: '2026-01' })],
      { 'Client/young': 'default/old' },
    ],
    [
      'C-09 of two of one age the one with the lower uid has it',
      [candidate('b', 'x', { uid: '2' }), candidate('a', 'x', { uid: '1' })],
      { 'Client/b': 'default/a' },
    ],
    [
      'C-09 an id that is the name of one and spelled out by another is contested',
      [candidate('x', 'x', { created: '1' }), candidate('other', 'x', { created: '2' }), candidate('y', 'y')],
      { 'Client/other': 'default/x' },
    ],
    [
      'C-09 all but one lose to the same one',
      [
        candidate('c', 'x', { created: '3' }),
        candidate('a', 'x', { created: '1' }),
        candidate('b', 'x', { created: '2' }),
      ],
      { 'Client/c': 'default/a', 'Client/b': 'default/a' },
    ],
  ];
  for (const [title, candidates, losers] of cases) {
    it(title, () => {
      expect(Object.fromEntries(contests(candidates, new Map()))).to.deep.equal(losers);
    });
  }

  it('R-22 leaves the id to the one of two of one age that has its row', () => {
    const both = [candidate('a', 'x', { uid: '1' }), candidate('b', 'x', { uid: '2' })];
    const rows = (uid: string) => new Map([['Client/x', { declarer: { uid } }]]);
    expect(Object.fromEntries(contests(both, rows('2')))).to.deep.equal({ 'Client/a': 'default/b' });
    expect(Object.fromEntries(contests(both, rows('1')))).to.deep.equal({ 'Client/b': 'default/a' });
    expect(Object.fromEntries(contests(both, rows('3')))).to.deep.equal({ 'Client/b': 'default/a' });
  });

  it('lets a Client and an AccessPolicy have the same id', () => {
    const policy = declared('AccessPolicy', 'x', { engine: 'allow' });
    expect(contests([candidate('x', 'x'), { object: policy, validated: validate(policy) }], new Map())).to.be.empty;
  });

  it('leaves the id to an older object that is faulty, so that a typing error hands nothing to another', () => {
    const faulty = declared('Client', 'old', { id: 'x', grant_types: ['x'] }, { created: '1' });
    const all = [{ object: faulty, validated: validate(faulty) }, candidate('young', 'x', { created: '2' })];
    const losers = contests(all, new Map());
    expect(Object.fromEntries(losers)).to.deep.equal({ 'Client/young': 'default/old' });
  });
});

describe('desiredOf', () => {
  const key = createSecretKey(Buffer.alloc(32, 1));
  const one = candidate('app', 'app');
  const missing = (message: string): ResolvedSecret => ({ state: 'missing', reason: 'SecretNotFound', message });
  const value = new Secret('chosen by somebody');
  const cases: [title: string, before: ResolvedSecret, now: ResolvedSecret, isSame: boolean][] = [
    ['is none, found once more', { state: 'none' }, { state: 'none' }, true],
    ['is the same one, found once more', { state: 'ready', value }, { state: 'ready', value }, true],
    [
      'is to be looked at at another time',
      { state: 'ready', value, look: 1 },
      { state: 'ready', value, look: 2 },
      false,
    ],
    [
      'is kept in another version',
      { state: 'ready', value, version: '1' },
      { state: 'ready', value, version: '2' },
      false,
    ],
    ['is another one', { state: 'ready', value }, { state: 'ready', value: new Secret('another') }, false],
    ['is missing for the same reason', missing('there is no Secret x'), missing('there is no Secret x'), true],
    ['is missing for another reason', missing('there is no Secret x'), missing('x has no entry y'), false],
    ['came', missing('there is no Secret x'), { state: 'ready', value }, false],
  ];
  for (const [title, first, second, isSame] of cases) {
    it(`${isSame ? 'is the very one of before' : 'is another one'} where the secret ${title}`, () => {
      const found = (secret: ResolvedSecret) => ({ ...one, secret, loses: undefined });
      const before = desiredOf(found(first), undefined, key);
      expect(desiredOf(found(second), before, key) === before).to.equal(isSame);
    });
  }
});

describe('intentOf', () => {
  const client = machineClient('app');
  const missing = { state: 'missing', reason: 'SecretNotFound', message: '' } as const;

  it('declares what is valid and has its secret', () => {
    expect(intentOf(desired(client))).to.equal('declare');
  });
  it('updates, but never makes, a client whose secret is missing', () => {
    expect(intentOf(desired(client, { secret: missing }))).to.equal('update');
  });
  it('leaves the row of a faulty object alone', () => {
    expect(intentOf(desired(declared('Client', 'app', {})))).to.equal('leave');
  });
  it('leaves the row of a suspended object alone, also when its secret is missing', () => {
    expect(intentOf(desired(machineClient('app', { suspend: true }), { secret: missing }))).to.equal('leave');
  });
  it('wants nothing for an object whose id an older one has', () => {
    expect(intentOf(desired(client, { loses: 'default/other' }))).to.equal('none');
  });
});
