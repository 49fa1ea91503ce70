import { expect } from 'chai';
import fc from 'fast-check';
import type { Box } from '../../../crds/box.ts';
import { checkResource } from '../../../crds/validate.ts';
import type { SigningKeyRow } from '../../../api/db/box/config-changes.ts';
import { planKeys } from '../../../api/oauth/keys/plan-keys.ts';
import type { KeyStep } from '../../../api/oauth/keys/plan-keys.ts';
import type { MissingKey } from '../../../api/oauth/keys/plan-keys.ts';
import { signingKey } from '../../../api/box/key-ring.ts';

const hour = 3_600_000;
const day = 24 * hour;
const now = 1000 * day;

function box(signing: Box['signing'] = {}): Box {
  return { resourceType: 'Box', id: 'default', signing };
}

function key(kid: string, over: Partial<SigningKeyRow> = {}): SigningKeyRow {
  const none = { publicJwk: {}, privateKey: Buffer.alloc(0), retiredAt: undefined };
  return { kid, algorithm: 'ES256', activeFrom: now - hour, signedUntil: now + hour, ...none, ...over };
}

function needed(until: number, algorithm: MissingKey['algorithm'] = 'ES256'): MissingKey {
  return { algorithm, until: until / 1000 };
}

interface Row {
  readonly keys: readonly SigningKeyRow[];
  readonly box?: Box;
  readonly needed?: MissingKey;
  readonly steps: readonly KeyStep[];
}

const rows: Record<string, Row> = {
  'a box without keys gets one that signs at once': {
    keys: [],
    steps: [{ do: 'create', algorithm: 'ES256', activeFrom: now, signedUntil: now }],
  },
  'a box without keys, and a token that waits': {
    keys: [],
    needed: needed(now + hour),
    steps: [{ do: 'create', algorithm: 'ES256', activeFrom: now, signedUntil: now + hour + day }],
  },
  'a key of the algorithm that the box names': {
    keys: [],
    box: box({ algorithm: 'EdDSA' }),
    steps: [{ do: 'create', algorithm: 'EdDSA', activeFrom: now, signedUntil: now }],
  },
  'nothing, while a key is young': { keys: [key('a')], steps: [] },
  'nothing, while the token that waits fits': { keys: [key('a')], needed: needed(now + hour), steps: [] },
  'a day more than the token that waits needs, so that the next need no write': {
    keys: [key('a')],
    needed: needed(now + 2 * hour),
    steps: [{ do: 'extend', kid: 'a', signedUntil: now + 2 * hour + day }],
  },
  'a successor a day before the period of 90 days is over': {
    keys: [key('a', { activeFrom: now - 89 * day })],
    steps: [
      { do: 'retire', kid: 'a', at: now + day },
      { do: 'create', algorithm: 'ES256', activeFrom: now + day, signedUntil: now + hour + day },
    ],
  },
  'no successor a moment earlier': { keys: [key('a', { activeFrom: now - 89 * day + 1 })], steps: [] },
  'a successor half a short period ahead': {
    keys: [key('a', { activeFrom: now - 30 * 60_000 })],
    box: box({ rotation_period: 3600 }),
    steps: [
      { do: 'retire', kid: 'a', at: now + 30 * 60_000 },
      { do: 'create', algorithm: 'ES256', activeFrom: now + 30 * 60_000, signedUntil: now + hour + 30 * 60_000 },
    ],
  },
  'no second successor while one waits': {
    keys: [key('a', { activeFrom: now - 89 * day, retiredAt: now + hour }), key('b', { activeFrom: now + hour })],
    steps: [],
  },
  'a token that waits extends the key that signs, not the one that waits too': {
    keys: [key('a', { activeFrom: now - 89 * day, retiredAt: now + hour }), key('b', { activeFrom: now + hour })],
    needed: needed(now + 2 * hour),
    steps: [{ do: 'extend', kid: 'a', signedUntil: now + 2 * hour + day }],
  },
  'an old key stays while a token of it may live': {
    keys: [key('a', { retiredAt: now - day, signedUntil: now - 1 }), key('b')],
    steps: [],
  },
  'an old key is dropped once its last token is over, and every clock agrees': {
    keys: [key('a', { retiredAt: now - day, signedUntil: now - 5 * 60_000 - 1 }), key('b')],
    steps: [{ do: 'delete', kid: 'a' }],
  },
  'a key that never signed a token stays until it retires': {
    keys: [key('a', { signedUntil: 0 })],
    steps: [],
  },
  'nothing, while a key of another algorithm, of id_tokens, is young': {
    keys: [key('a'), key('b', { algorithm: 'RS256', signedUntil: now - day })],
    steps: [],
  },
  'a successor of a key of another algorithm that signed something lately': {
    keys: [key('a'), key('b', { algorithm: 'RS256', activeFrom: now - 89 * day })],
    steps: [
      { do: 'retire', kid: 'b', at: now + day },
      { do: 'create', algorithm: 'RS256', activeFrom: now + day, signedUntil: now + hour + day },
    ],
  },
  'the end of a key of another algorithm that nothing is signed with any more': {
    keys: [key('a'), key('b', { algorithm: 'RS256', activeFrom: now - 89 * day, signedUntil: now - 1 })],
    steps: [{ do: 'retire', kid: 'b', at: now }],
  },
  'a token that waits under older settings retires nothing': {
    keys: [key('b', { algorithm: 'RS256' })],
    box: box({ algorithm: 'RS256' }),
    needed: needed(now + hour),
    steps: [{ do: 'create', algorithm: 'ES256', activeFrom: now, signedUntil: now + hour + day }],
  },
  'a new key where all of the algorithm are retired': {
    keys: [key('a', { retiredAt: now - 1 }), key('b', { algorithm: 'RS256', retiredAt: now - 1 })],
    steps: [{ do: 'create', algorithm: 'ES256', activeFrom: now, signedUntil: now }],
  },
};

describe('the plan of signing keys', () => {
  for (const [what, row] of Object.entries(rows)) {
    it(`is ${what}`, () => {
      expect(planKeys(row.keys, row.box ?? box(), row.needed, now)).to.deep.equal(row.steps);
    });
  }

  it('is nothing more once it was carried out, whatever the keys were', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 30 }), (days) => {
        let keys: readonly SigningKeyRow[] = [];
        for (const at of days.toSorted((a, b) => a - b)) {
          keys = carriedOut(keys, planKeys(keys, box(), undefined, at * day));
          expect(planKeys(keys, box(), undefined, at * day)).to.deep.equal([]);
        }
      }),
    );
  });

  it('K-08 keeps the shortest period that a Box may have, to the ten minutes between two rounds of upkeep', () => {
    const round = 10 * 60_000;
    const settings = box({ rotation_period: 3600 });
    expect(checkResource('Box', settings).ok).to.equal(true);
    expect(checkResource('Box', box({ rotation_period: 3599 })).ok).to.equal(false);
    let keys: readonly SigningKeyRow[] = [];
    const signedBy = new Map<string, number>();
    for (let at = now; at < now + 3 * day; at += 60_000) {
      if ((at - now) % round === 0) keys = carriedOut(keys, planKeys(keys, settings, undefined, at));
      const kid = signingKey(keys, at)?.kid ?? '';
      signedBy.set(kid, (signedBy.get(kid) ?? 0) + 60_000);
    }
    const spans = [...signedBy.values()].slice(0, -1);
    expect(Math.min(...spans)).to.be.at.least(hour);
    expect(Math.max(...spans)).to.be.at.most(hour + round);
  });

  it('K-08 keeps a key to verify every living token, and always one to sign, through years of rotation', () => {
    const seed = fc.record({
      lifetimes: fc.array(fc.constantFrom(60_000, hour, day, 40 * day, 365 * day), { minLength: 1, maxLength: 5 }),
      period: fc.constantFrom(3600, 86_400, 10 * 86_400, 90 * 86_400),
      gap: fc.integer({ min: 60_000, max: 20 * day }),
    });
    fc.assert(
      fc.property(seed, ({ lifetimes, period, gap }) => {
        const settings = box({ rotation_period: period });
        const living: { kid: string; until: number }[] = [];
        let keys: readonly SigningKeyRow[] = [];
        for (let step = 0; step < 150; step += 1) {
          const at = now + step * gap;
          keys = carriedOut(keys, planKeys(keys, settings, undefined, at));
          const until = at + (lifetimes[step % lifetimes.length] ?? hour);
          if ((signingKey(keys, at)?.signedUntil ?? 0) < until) {
            keys = carriedOut(keys, planKeys(keys, settings, needed(until), at));
          }
          const signer = signingKey(keys, at);
          expect(signer?.signedUntil).to.be.at.least(until);
          living.push({ kid: signer?.kid ?? '', until });
          const published = new Set(keys.map(({ kid }) => kid));
          expect(living.filter((token) => token.until > at && !published.has(token.kid))).to.deep.equal([]);
        }
        // Old ones go: never more than the living tokens, the present and the next one need.
        expect(keys.length).to.be.at.most(new Set(living.map(({ kid }) => kid)).size + 1);
      }),
      { numRuns: 50 },
    );
  });
});

let made = 0;

/** Returns the rows after the steps, oldest first, as the table returns them. */
function carriedOut(keys: readonly SigningKeyRow[], steps: readonly KeyStep[]): readonly SigningKeyRow[] {
  let rows = [...keys];
  for (const step of steps) {
    if (step.do === 'create') {
      made += 1;
      const { algorithm, activeFrom, signedUntil } = step;
      rows.push(key(`made-${String(made)}`, { algorithm, activeFrom, signedUntil }));
    } else if (step.do === 'delete') rows = rows.filter(({ kid }) => kid !== step.kid);
    else if (step.do === 'retire') rows = changed(rows, step.kid, { retiredAt: step.at });
    else rows = changed(rows, step.kid, { signedUntil: step.signedUntil });
  }
  return rows.toSorted((a, b) => a.activeFrom - b.activeFrom);
}

function changed(rows: readonly SigningKeyRow[], kid: string, over: Partial<SigningKeyRow>): SigningKeyRow[] {
  return rows.map((row) => (row.kid === kid ? { ...row, ...over } : row));
}
