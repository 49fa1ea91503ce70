import { expect } from 'chai';
import type { NamespaceClaim } from '../../api/client/desired-state.ts';
import type { Binding } from '../../api/db/box/namespace.ts';
import { decideClaim, lockedMessage } from '../../api/apply/claims.ts';

const fresh: Binding = { cluster: undefined, uid: undefined, locked: false, missing: false };
const bound: Binding = { cluster: 'c', uid: 'old', locked: false, missing: false };
const locked: Binding = { ...bound, locked: true, missing: false };
const elsewhere: Binding = { ...bound, cluster: 'd' };

describe('decideClaim', () => {
  const missing: Binding = { ...bound, missing: true };
  const cases: [title: string, binding: Binding, claim: NamespaceClaim | undefined, verdict: string][] = [
    ['its own namespace, which was missing', missing, { uid: 'old' }, 'resume'],
    ['another namespace, of a box whose own is missing', missing, { uid: 'new' }, 'lock'],
    ['another namespace that adopts a box whose own is missing', missing, { uid: 'new', adopt: 'old' }, 'adopt'],
    [
      'the first namespace of a box that was adopted while its own was missing',
      { ...missing, uid: undefined },
      { uid: 'new' },
      'bind',
    ],
    ['no namespace', fresh, undefined, 'proceed'],
    [
      'R-45 no namespace, of a box that is out of service and has none',
      { ...fresh, missing: true },
      undefined,
      'reopen',
    ],
    ['no namespace, of a bound box that is out of service', missing, undefined, 'proceed'],
    ['no namespace, of a bound box', bound, undefined, 'proceed'],
    ['no namespace, of a locked box', locked, undefined, 'refuse'],
    ['the first namespace', fresh, { uid: 'new' }, 'bind'],
    ['the first namespace, that adopts what nobody had', fresh, { uid: 'new', adopt: 'old' }, 'bind'],
    ['its own namespace', bound, { uid: 'old' }, 'proceed'],
    ['its own namespace, that discards itself', bound, { uid: 'old', discard: 'old' }, 'proceed'],
    ['another namespace', bound, { uid: 'new' }, 'lock'],
    ['another namespace, of a locked box', locked, { uid: 'new' }, 'refuse'],
    ['a third namespace, of a locked box', locked, { uid: 'third' }, 'refuse'],
    ['its own namespace, of a locked box', locked, { uid: 'old' }, 'refuse'],
    ['its own namespace, of a locked box, that adopts itself', locked, { uid: 'old', adopt: 'old' }, 'adopt'],
    ['another namespace that adopts', bound, { uid: 'new', adopt: 'old' }, 'adopt'],
    ['another namespace that adopts, of a locked box', locked, { uid: 'new', adopt: 'old' }, 'adopt'],
    ['another namespace that discards', bound, { uid: 'new', discard: 'old' }, 'discard'],
    ['another namespace that discards, of a locked box', locked, { uid: 'new', discard: 'old' }, 'discard'],
    ['another namespace that adopts what is not there', bound, { uid: 'new', adopt: 'older' }, 'lock'],
    ['another namespace that discards what is not there', locked, { uid: 'new', discard: 'older' }, 'refuse'],
    ['another namespace that says both', bound, { uid: 'new', adopt: 'old', discard: 'old' }, 'lock'],
    ['a namespace of another cluster', elsewhere, { uid: 'new' }, 'refuse'],
    ['a namespace of another cluster with the same uid', elsewhere, { uid: 'old' }, 'refuse'],
    ['a namespace of another cluster that adopts', elsewhere, { uid: 'new', adopt: 'old' }, 'adopt'],
    ['a box of an adopted cluster', { ...bound, uid: undefined }, { uid: 'new' }, 'bind'],
    ['a box that another cluster has adopted', { ...elsewhere, uid: undefined }, { uid: 'new' }, 'refuse'],
  ];
  for (const [title, binding, namespace, verdict] of cases) {
    it(`P-14 ${title}: ${verdict}`, () => {
      const head = { cluster: 'c', epoch: 1, complete: true, ...(namespace === undefined ? {} : { namespace }) };
      expect(decideClaim(head, binding)).to.equal(verdict);
    });
  }

  for (const [title, binding, verdict] of [
    ['of its own cluster', bound, 'retire'],
    ['of its own cluster, which is known', missing, 'proceed'],
    ['of a locked box', locked, 'retire'],
    ['of another cluster', elsewhere, 'proceed'],
    ['R-45 of a box without one', fresh, 'retire'],
    ['R-45 of a box without one, which is known', { ...fresh, missing: true }, 'proceed'],
  ] as const) {
    it(`R-51 a namespace that is missing, ${title}: ${verdict}`, () => {
      expect(decideClaim({ cluster: 'c', epoch: 1, complete: false, missing: true }, binding)).to.equal(verdict);
    });
  }

  it('says whose the box is', () => {
    expect(lockedMessage('shop', bound)).to.equal('box shop is bound to the namespace with uid old of cluster c');
  });
});
