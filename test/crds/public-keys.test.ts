import { expect } from 'chai';
import { createLocalJWKSet } from 'jose';
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { keyFaults } from '../../crds/public-keys.ts';
import { readSubmission } from '../../api/records/write/submission.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { faultSentence } from '../../crds/fault.ts';
import { validate } from '../../operator/desired/validate.ts';
import { machineClient } from '../operator/declare.ts';
import { manifest } from './objects/row.ts';

type Key = Record<string, unknown>;

const ec = publicKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const ec521 = publicKey(generateKeyPairSync('ec', { namedCurve: 'P-521' }));
const koblitz = publicKey(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }));
const ed = publicKey(generateKeyPairSync('ed25519'));
const ed448 = publicKey(generateKeyPairSync('ed448'));
const rsa = publicKey(generateKeyPairSync('rsa', { modulusLength: 2048 }));

function publicKey({ publicKey: key }: { publicKey: { export(options: { format: 'jwk' }): JsonWebKey } }): Key {
  return { ...key.export({ format: 'jwk' }) };
}

const without = (key: Key, member: string): Key =>
  Object.fromEntries(Object.entries(key).filter(([name]) => name !== member));

/** Keys that verify, with the algorithm of their signatures. */
const good: readonly (readonly [title: string, key: Key, algorithm: string])[] = [
  ['an EC key', ec, 'ES256'],
  ['an EC key of 521 bits', ec521, 'ES512'],
  ['an Ed25519 key', ed, 'EdDSA'],
  ['an RSA key for PSS', { ...rsa, alg: 'PS256' }, 'PS256'],
  ['an RSA key', rsa, 'RS256'],
  ['a key with everything', { ...ec, kid: 'one', use: 'sig', alg: 'ES256', key_ops: ['verify'], x5c: ['a'] }, 'ES256'],
];

/** Keys that verify nothing, where the fault is, and what it says. */
const bad: readonly (readonly [title: string, key: Key, algorithm: string, at: string, says: RegExp])[] = [
  ['an RSA key with nothing in it', { kty: 'RSA' }, 'RS256', '.n', /must be given.*RSA has n, e/],
  ['an RSA key without its exponent', without(rsa, 'e'), 'RS256', '.e', /must be given/],
  ['an EC key whose y YAML made true', { ...without(ec, 'y'), true: ec['y'] }, 'ES256', '.true', /"y" in quotes/],
  // E-33: an unquoted n was told as a modulus that is too short.
  ['an RSA key whose n YAML made false', { ...without(rsa, 'n'), false: rsa['n'] }, 'RS256', '.false', /"n" in quotes/],
  ['an EC key without y', without(ec, 'y'), 'ES256', '.y', /must be given.*EC has crv, x, y \("y" in quotes/],
  ['an EC key whose y is a number', { ...ec, y: 7 }, 'ES256', '.y', /must be given as a string/],
  ['an EC key that is no point', { ...ec, y: ec['x'] }, 'ES256', '', /its x and y are no point of P-256/],
  ['an EC key that is cut off', { ...ec, x: 'AQAB' }, 'ES256', '', /no point of P-256/],
  ['an EC key of another curve', { ...ec, crv: 'P-384' }, 'ES384', '', /no point of P-384/],
  ['an EC key of a curve that signs nothing here', koblitz, 'ES256', '.crv', /P-256, P-384, P-521 where kty is EC/],
  ['an OKP key that is cut off', { ...ed, x: 'AQAB' }, 'EdDSA', '', /its x is no point of Ed25519/],
  ['an Ed448 key', ed448, 'EdDSA', '.crv', /must be Ed25519 where kty is OKP/],
  ['a curve with the name of something else', { ...ed, crv: 'constructor' }, 'EdDSA', '.crv', /must be Ed25519/],
  ['an EC key for signatures by RSA', { ...ec, alg: 'RS256' }, 'ES256', '.alg', /must be ES256 for this key/],
  ['a key that signs as well', { ...ec, key_ops: ['sign', 'verify'] }, 'ES256', '.key_ops', /must be \["verify"\]/],
  ['operations that are no list', { ...ec, key_ops: 'verify' }, 'ES256', '.key_ops', /must be \["verify"\]/],
  ['a symmetric key', { kty: 'oct', k: 'AQAB' }, 'RS256', '.kty', /must be RSA, EC or OKP/],
];

/** Checks whether jose, which verifies assertions, can import this key. */
async function isTaken(key: Key, algorithm: string): Promise<boolean> {
  try {
    await createLocalJWKSet({ keys: [{ kty: '', ...key }] })({ alg: algorithm });
    return true;
  } catch {
    return false;
  }
}

describe('R-21: the keys of a client', () => {
  for (const [title, key, algorithm] of good) {
    it(`R-21: ${title} is taken, as jose takes it`, async () => {
      expect(keyFaults({ keys: [key] })).to.deep.equal([]);
      expect(await isTaken(key, algorithm)).to.equal(true);
    });
  }

  for (const [title, key, algorithm, at, says] of bad) {
    it(`R-21: ${title} is refused by its place, as jose refuses it`, async () => {
      const faults = keyFaults({ keys: [ec, key] });
      expect(faults.map(({ path }) => path)).to.deep.equal([`jwks.keys[1]${at}`]);
      expect(faults[0]?.message).to.match(says);
      expect(await isTaken(key, algorithm)).to.equal(false);
    });
  }

  it('R-21: an exponent that no RSA key has is refused', () => {
    for (const e of ['', 'A', '!!', 'AQ', 'AAE', 'Ag']) {
      const faults = keyFaults({ keys: [{ ...rsa, e }] });
      expect(
        faults.map(({ path }) => path),
        e,
      ).to.deep.equal(['jwks.keys[0].e']);
    }
    expect(keyFaults({ keys: [{ ...rsa, e: 'Aw' }] })).to.deep.equal([]);
  });

  it('R-21: keys for encryption are left alone next to one that verifies, and refused without one', () => {
    const others = [
      { ...ec, use: 'enc' },
      { ...rsa, alg: 'RSA-OAEP' },
      { kty: 'OKP', crv: 'X25519', x: 'AQAB', key_ops: ['deriveKey'] },
    ];
    expect(keyFaults({ keys: [...others, ec] })).to.deep.equal([]);
    expect(keyFaults({ keys: others }).map(({ path }) => path)).to.deep.equal(['jwks.keys']);
  });

  it('R-21: the operator finds an object with such a key not valid, and names the key', () => {
    const keys = [ec, { ...ec, y: ec['x'] }];
    const { faults } = validate(machineClient('app', { jwks: { keys } }));
    expect(faults.map(faultSentence)).to.deep.equal([
      'spec.jwks.keys[1] must be a key that can be imported: its x and y are no point of P-256. Export the public key again',
    ]);
    expect(validate(machineClient('app', { jwks: { keys: [ec] } })).faults).to.deep.equal([]);
  });

  it('R-21: a client with such a key is refused over REST', () => {
    const client = { id: 'app', grant_types: ['client_credentials'], jwks: { keys: [{ ...ec, y: ec['x'] }] } };
    expect(() => readSubmission({ kind: 'Client', id: 'app' }, client, Date.now())).to.throw(
      /jwks\.keys\[0\] must be a key that can be imported/,
    );
  });

  it('R-21: an object whose y is true is told to quote "y"', () => {
    const checked = checkManifest(manifest('Client', { jwks: { keys: [{ ...without(ec, 'y'), true: ec['y'] }] } }));
    expect(checked.ok ? [] : checked.faults.map(faultSentence)).to.deep.equal([
      'spec.jwks.keys[0] must have crv, x and "y" where kty is EC: quote "y", which YAML 1.1 takes for true',
      'spec.jwks.keys[0].true must be "y" in quotes: YAML 1.1, which kubectl reads, takes an unquoted y for true',
    ]);
  });
});
