import { expect } from 'chai';
import fc from 'fast-check';
import { makeSessionId } from '../../../api/credentials/token-text.ts';
import { bucketOf, bucketOfSession, wantedBuckets } from '../../../api/db/session/bucket.ts';
import { uuidText } from '../../../program/text.ts';

const day = 86_400;
const tenYears = 315_360_000;

function at(text: string): number {
  return Date.parse(text) / 1000;
}

function dayOf(text: string): number {
  return Date.parse(text) / 1000 / day;
}

function monthOf(year: number, month: number): number {
  return 1_000_000 + year * 12 + month - 1;
}

/** The first second after a bucket, by the calendar and not by the code under test. */
function endOf(bucket: number): number {
  if (bucket < 1_000_000) return (bucket + 1) * day;
  const months = bucket - 1_000_000 + 1;
  const month = String((months % 12) + 1).padStart(2, '0');
  return at(`${String(Math.floor(months / 12))}-${month}-01T00:00:00Z`);
}

const issue = fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2090-01-01T00:00:00Z') });
const lifetime = fc.oneof(fc.integer({ min: 1, max: 70 * day }), fc.integer({ min: 1, max: tenYears }));

describe('the bucket of a session', () => {
  const cases: readonly (readonly [issued: string, expires: string, bucket: number, what: string])[] = [
    ['2026-03-10T12:00:00Z', '2026-03-10T12:00:01Z', dayOf('2026-03-10'), 'the same day'],
    ['2026-03-10T23:59:59Z', '2026-03-11T00:00:00Z', dayOf('2026-03-11'), 'midnight belongs to the new day'],
    ['2026-03-10T00:00:00Z', '2026-05-09T23:59:59Z', dayOf('2026-05-09'), 'the last second of the 60th day'],
    ['2026-03-10T23:59:59Z', '2026-05-09T00:00:00Z', dayOf('2026-05-09'), 'days are counted by the calendar'],
    ['2026-03-10T00:00:00Z', '2026-05-10T00:00:00Z', monthOf(2026, 5), 'the 61st day is its month'],
    ['2026-03-10T00:00:00Z', '2026-05-31T23:59:59Z', monthOf(2026, 5), 'the last second of a month'],
    ['2026-03-10T00:00:00Z', '2026-06-01T00:00:00Z', monthOf(2026, 6), 'the first second of the next month'],
    ['2026-10-10T00:00:00Z', '2026-12-31T23:59:59Z', monthOf(2026, 12), 'the last second of a year'],
    ['2026-10-10T00:00:00Z', '2027-01-01T00:00:00Z', monthOf(2027, 1), 'the first second of the next year'],
    ['2027-12-30T00:00:00Z', '2028-02-28T12:00:00Z', dayOf('2028-02-28'), '60 days, ending before a leap day'],
    ['2027-12-31T00:00:00Z', '2028-02-29T12:00:00Z', dayOf('2028-02-29'), '60 days, ending on a leap day'],
    ['2027-12-30T00:00:00Z', '2028-02-29T12:00:00Z', monthOf(2028, 2), '61 days, ending on a leap day'],
    ['2026-02-01T00:00:00Z', '2036-01-30T00:00:00Z', monthOf(2036, 1), 'ten years'],
  ];
  for (const [issued, expires, bucket, what] of cases) {
    it(`is right for ${what}: ${issued} to ${expires}`, () => {
      expect(bucketOf(at(issued), at(expires))).to.equal(bucket);
    });
  }

  it('ends after the session, and a month later at most', () => {
    fc.assert(
      fc.property(issue, lifetime, (issuedAt, seconds) => {
        const end = endOf(bucketOf(issuedAt, issuedAt + seconds));
        expect(end).to.be.greaterThan(issuedAt + seconds);
        expect(end - (issuedAt + seconds)).to.be.at.most(31 * day);
      }),
    );
  });

  it('is a day when the session ends within 60 days, else a month', () => {
    fc.assert(
      fc.property(issue, lifetime, (issuedAt, seconds) => {
        const days = Math.floor((issuedAt + seconds) / day) - Math.floor(issuedAt / day);
        expect(bucketOf(issuedAt, issuedAt + seconds) < 1_000_000).to.equal(days <= 60);
      }),
    );
  });
});

describe('the id of a session', () => {
  it('says its bucket, with and without hyphens', () => {
    fc.assert(
      fc.property(issue, fc.nat({ max: 999 }), lifetime, (issuedAt, milliseconds, seconds) => {
        const bucket = bucketOf(issuedAt, issuedAt + seconds);
        const id = makeSessionId(bucket, issuedAt * 1000 + milliseconds);
        expect(bucketOfSession(id)).to.equal(bucket);
        expect(bucketOfSession(uuidText(id))).to.equal(bucket);
      }),
    );
  });

  it('says a number that Postgres can compare, whoever made it up', () => {
    const hex = fc.stringMatching(/^[0-9a-f]{32}$/);
    fc.assert(
      fc.property(hex, (id) => {
        expect(bucketOfSession(id)).to.be.within(0, 2 ** 31 - 1);
      }),
    );
  });
});

describe('the buckets made ahead', () => {
  it('hold every session that is issued until the day after tomorrow', () => {
    const until = fc.integer({ min: 0, max: 3 * day - 1 });
    fc.assert(
      fc.property(issue, until, lifetime, (now, later, seconds) => {
        const midnight = now - (now % day);
        const issuedAt = Math.max(now, midnight + later);
        expect(wantedBuckets(new Date(now * 1000))).to.include(bucketOf(issuedAt, issuedAt + seconds));
      }),
    );
  });

  it('are few, each once, and none of them is over', () => {
    fc.assert(
      fc.property(issue, (now) => {
        const buckets = wantedBuckets(new Date(now * 1000));
        expect(buckets).to.have.length(185);
        expect(new Set(buckets).size).to.equal(185);
        expect(Math.min(...buckets.map(endOf))).to.be.greaterThan(now);
      }),
    );
  });
});
