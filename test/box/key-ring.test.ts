import { expect } from 'chai';
import { sign, verify } from 'node:crypto';
import { createKeySealing } from '../../api/credentials/key-sealing.ts';
import { createKeyRing } from '../../api/box/key-ring.ts';
import { keyRow, sampleSealing } from './sample-changes.ts';

const old = { activeFrom: 0, retiredAt: 1000 };
const young = { activeFrom: 1000 };

describe('the keys of a box', () => {
  it('sign with the private part that belongs to the published one', () => {
    const [key] = createKeyRing([keyRow('k')], sampleSealing, 'default').all;
    const data = Buffer.from('data');
    expect(key && verify('sha256', data, key.publicKey, sign('sha256', data, key.privateKey()))).to.equal(true);
  });

  it('are published without their private part', () => {
    const [key] = createKeyRing([keyRow('k')], sampleSealing, 'default').all;
    expect(key?.publicJwk).to.have.all.keys('kty', 'crv', 'x', 'y', 'kid', 'alg', 'use');
  });

  const strangers = {
    'under another encryption key': createKeyRing([keyRow('k')], createKeySealing([Buffer.alloc(32, 2)]), 'default'),
    'for another box': createKeyRing([keyRow('k', {}, 'other')], sampleSealing, 'default'),
    'under another name': createKeyRing([{ ...keyRow('k'), kid: 'l' }], sampleSealing, 'default'),
  };
  for (const [where, ring] of Object.entries(strangers)) {
    it(`sign nothing when they were sealed ${where}, and still verify`, () => {
      expect(() => ring.all[0]?.privateKey()).to.throw(/BOXGATE_ENCRYPTION_KEY/);
      expect(ring.all[0]?.publicKey.type).to.equal('public');
    });
  }

  const rows = { a: keyRow('a', old), b: keyRow('b', young), c: keyRow('c', { activeFrom: 500, algorithm: 'RS256' }) };
  const cases = [
    { what: 'the key that is in use', keys: [rows.a, rows.b], now: 0, signs: 'a' },
    { what: 'the last moment of a key', keys: [rows.a, rows.b], now: 999, signs: 'a' },
    { what: 'the first moment of the next', keys: [rows.a, rows.b], now: 1000, signs: 'b' },
    { what: 'a key of another algorithm', keys: [rows.a, rows.c], now: 600, signs: 'a' },
    { what: 'a retired key alone', keys: [rows.a], now: 1000, signs: undefined },
    { what: 'a key that is not due, and no other', keys: [rows.b], now: 0, signs: 'b' },
    { what: 'a key that is not due behind a retired one', keys: [rows.a, rows.b], now: 1000 - 1, signs: 'a' },
    { what: 'no key', keys: [], now: 0, signs: undefined },
  ];
  for (const { what, keys, now, signs } of cases) {
    it(`have ${signs === undefined ? 'none that signs' : `one that signs, ${signs},`} with ${what}`, () => {
      expect(createKeyRing(keys, sampleSealing, 'default').signing('ES256', now)?.kid).to.equal(signs);
    });
  }

  it('are found by their id', () => {
    const ring = createKeyRing([rows.a, rows.b], sampleSealing, 'default');
    expect(ring.find('b')?.kid).to.equal('b');
    expect(ring.find('z')).to.equal(undefined);
  });
});
