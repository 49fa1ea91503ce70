import { expect } from 'chai';
import { Secret } from '../../../api/client/secret.ts';
import {
  nextLook,
  nextSecret,
  rotationOf,
  type KeptSecret,
  type SecretSituation,
} from '../../../operator/secrets/rotation.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = 1_000 * hour;
const old = new Secret('old');
const fresh = new Secret('fresh');
const third = new Secret('third');
const made = new Secret('made');
const weekly = rotationOf({ rotation: { every: '168h', overlap: '2h' } });
const never = rotationOf({});

const single: KeptSecret = { value: old, made: now - 10 * hour };
const staged: KeptSecret = { ...single, next: fresh };
const twofold: KeptSecret = { value: fresh, made: now - hour, previous: { value: old, until: now + hour } };

function situation(fields: Partial<SecretSituation>): SecretSituation {
  return {
    found: single,
    last: undefined,
    applied: undefined,
    hadGeneratedSecret: () => false,
    rotation: never,
    usage: undefined,
    now,
    ...fields,
  };
}

const used = (lastToken: number, previousLastUsed?: number) => ({ lastToken, previousLastUsed });
const at = (time: number) => ({ ...never, at: time });

describe('nextSecret', () => {
  const cases: [title: string, given: Partial<SecretSituation>, change: string, kept: Partial<KeptSecret>][] = [
    ['makes one where there is none', { found: undefined }, 'made', { value: made, made: now }],
    [
      'puts the old one back where it was deleted, with another one behind it that is shown once the API knows it',
      { found: undefined, last: single, rotation: weekly },
      'made',
      { ...single, next: made },
    ],
    [
      'makes one beside the one that the API has, where nobody remembers that',
      { found: undefined, hadGeneratedSecret: () => true, rotation: weekly },
      'made',
      { value: made, made: now, previous: { until: now + 2 * hour } },
    ],
    ['retires that one at its deadline', { found: { ...single, previous: { until: now } } }, 'retired', single],
    [
      'does the same where it was emptied',
      { found: { value: undefined, made: 0 }, last: single },
      'renewed',
      { ...single, next: made },
    ],
    [
      'takes one that somebody put there, beside the old one',
      { found: { value: third, made: 0 }, last: single },
      'taken',
      { value: third, made: now, previous: { value: old, until: now + hour } },
    ],
    ['takes what another operator has rotated', { found: twofold, last: single }, 'none', twofold],
    ['keeps one without a rotation', { found: single }, 'none', single],
    ['keeps one whose time has not come', { found: single, rotation: weekly }, 'none', single],
    [
      'stages the next one when its time has come',
      { found: { ...single, made: now - 168 * hour }, rotation: weekly },
      'staged',
      { value: old, made: now - 168 * hour, next: made },
    ],
    ['stages one at a time that has come', { found: single, rotation: at(now) }, 'staged', { ...single, next: made }],
    ['stages none at a time to come', { found: single, rotation: at(now + 1) }, 'none', single],
    ['stages none where it was made after that time', { found: single, rotation: at(single.made) }, 'none', single],
    ['waits until the API has the staged one', { found: staged, rotation: weekly }, 'none', staged],
    ['waits while the API has the old one', { found: staged, applied: old, rotation: weekly }, 'none', staged],
    [
      'shows the new one once the API has it',
      { found: staged, applied: fresh, rotation: weekly },
      'rotated',
      { value: fresh, made: now, previous: { value: old, until: now + 2 * hour } },
    ],
    ['keeps both for the overlap', { found: twofold, rotation: at(now - minute) }, 'none', twofold],
    [
      'retires the old one at its deadline',
      { found: twofold, now: now + hour },
      'retired',
      { value: fresh, made: now - hour },
    ],
    ['keeps the old one while nothing is known of its use', { found: twofold, now: now + hour - 1 }, 'none', twofold],
    [
      'keeps the old one while nobody has used the new one',
      { found: twofold, usage: used(now - 2 * hour) },
      'none',
      twofold,
    ],
    [
      'keeps the old one that was used lately',
      { found: twofold, usage: used(now, now - 30 * minute) },
      'none',
      twofold,
    ],
    [
      'keeps the old one where the last token may be its own',
      { found: twofold, now: now + 59 * minute, usage: used(now - 55 * minute, now - 55.5 * minute) },
      'none',
      twofold,
    ],
    [
      'retires the old one that nobody has used for half of its time, once the new one is used',
      { found: twofold, usage: used(now - minute) },
      'retired',
      { value: fresh, made: now - hour },
    ],
    [
      'keeps it before half of its time is over',
      { found: twofold, now: now - minute, usage: used(now - 2 * minute) },
      'none',
      twofold,
    ],
  ];
  for (const [title, given, change, kept] of cases) {
    it(title, () => {
      expect(nextSecret(situation(given), () => made)).to.deep.equal({ kept, change });
    });
  }

  it('reads durations and times of a spec', () => {
    // E-25 g: a rotation of seconds kept the API server busy.
    expect(rotationOf({ rotation: { every: '2s', overlap: '0s' } })).to.include({ every: 3_600_000, overlap: 0 });
    const rotation = { every: '1h30m', at: '2026-01-01T00:00:00Z', overlap: '90s' };
    expect(rotationOf({ rotation })).to.deep.equal({ every: 90 * minute, at: Date.UTC(2026, 0, 1), overlap: 90_000 });
    expect(rotationOf({})).to.deep.equal({ every: undefined, at: undefined, overlap: hour });
  });
});

describe('nextLook', () => {
  const cases: [title: string, kept: KeptSecret, rotation: typeof never, look: number | undefined][] = [
    ['is never without a rotation', single, never, undefined],
    ['is when the next one is due', single, weekly, single.made + 168 * hour],
    ['is when something is applied while one is staged', staged, weekly, undefined],
    ['is some times in an overlap', twofold, weekly, now + 10 * minute],
    [
      'is at the deadline of the old one',
      { ...twofold, previous: { value: old, until: now + minute } },
      weekly,
      now + minute,
    ],
  ];
  for (const [title, kept, rotation, look] of cases) {
    it(title, () => {
      expect(nextLook(kept, rotation, now)).to.equal(look);
    });
  }
});
