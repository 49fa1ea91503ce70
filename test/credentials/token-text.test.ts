import { expect } from 'chai';
import fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { uuidV7Time } from '../../api/db/core/uuid-v7.ts';
import { bucketOf } from '../../api/db/session/bucket.ts';
import { makeAccessToken, makeSessionId, parseAccessToken } from '../../api/credentials/token-text.ts';
import { uuidText } from '../../program/text.ts';

const buckets = fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 1_023_640, max: 1_119_999 }));
const times = fc.integer({ min: 0, max: 2 ** 47 });
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Any text whose checksum fits: anybody can make one. */
function forged(bytes: Buffer): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(bytes));
  return `bgt_${Buffer.concat([bytes, checksum]).toString('base64url')}`;
}

describe('the text of an access token', () => {
  it('is bgt_ and 75 characters of base64url, which secret scanners can look for', () => {
    expect(makeAccessToken(20_000, Date.now()).text).to.match(/^bgt_[A-Za-z0-9_-]{75}$/);
  });

  it('says its bucket, its session and the hash of its random part, whatever they are', () => {
    fc.assert(
      fc.property(buckets, times, (bucket, now) => {
        const { text, id, hash } = makeAccessToken(bucket, now);
        expect(parseAccessToken(text)).to.deep.equal({ bucket, id, hash });
        expect(uuidV7Time(id)).to.equal(now);
      }),
    );
  });

  it('is refused with any one of its characters changed, left out or doubled', () => {
    const { text } = makeAccessToken(20_000, Date.now());
    for (let at = 0; at < text.length; at += 1) {
      for (const sign of alphabet) {
        if (sign !== text[at])
          expect(parseAccessToken(text.slice(0, at) + sign + text.slice(at + 1))).to.equal(undefined);
      }
      expect(parseAccessToken(text.slice(0, at) + text.slice(at + 1))).to.equal(undefined);
      expect(parseAccessToken(text.slice(0, at) + text.charAt(at) + text.slice(at))).to.equal(undefined);
    }
  });

  it('is refused with any one character of anything else in its place', () => {
    const { text } = makeAccessToken(20_000, Date.now());
    fc.assert(
      fc.property(
        fc.nat({ max: text.length - 1 }),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        (at, sign) => {
          fc.pre(sign !== text[at]);
          expect(parseAccessToken(text.slice(0, at) + sign + text.slice(at + 1))).to.equal(undefined);
        },
      ),
    );
  });

  it('is never mistaken for one when it is any other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseAccessToken(text)).to.equal(undefined);
        expect(parseAccessToken(`bgt_${text}`)).to.equal(undefined);
      }),
    );
  });

  it('holds 256 random bits: no more than two are alike in any 32 bits of them', () => {
    const parts = Array.from({ length: 500 }, () => Buffer.from(makeAccessToken(1, 1).text.slice(4), 'base64url'));
    for (let at = 20; at < 52; at += 4) {
      // One pair is alike by chance in one of four thousand runs.
      expect(new Set(parts.map((bytes) => bytes.readUInt32BE(at))).size).to.be.at.least(parts.length - 1);
    }
  });

  const edges = {
    'the last bucket there can be': { bucket: 1_119_999, known: true },
    'one bucket beyond': { bucket: 1_120_000, known: false },
    'a number that Postgres has no integer for': { bucket: 2 ** 31, known: false },
    'the largest number': { bucket: 2 ** 32 - 1, known: false },
  };
  for (const [what, { bucket, known }] of Object.entries(edges)) {
    it(`with a fitting checksum and ${what} is ${known ? 'one of ours' : 'refused without SQL'}`, () => {
      const bytes = Buffer.alloc(52, 1);
      bytes.writeUInt32BE(bucket);
      expect(parseAccessToken(forged(bytes))?.bucket).to.equal(known ? bucket : undefined);
    });
  }
});

describe('a session id', () => {
  it('is a UUIDv7 with the time of its making (RFC 9562 section 5.7)', () => {
    fc.assert(
      fc.property(times, (now) => {
        const id = makeSessionId(bucketOf(Math.floor(now / 1000), Math.floor(now / 1000) + 3600), now);
        expect(uuidText(id)).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(uuidV7Time(id)).to.equal(now);
        expect(uuidV7Time(uuidText(id))).to.equal(now);
      }),
    );
  });

  it('is another one each time', () => {
    expect(new Set(Array.from({ length: 1000 }, () => makeSessionId(0, 0))).size).to.equal(1000);
  });
});
