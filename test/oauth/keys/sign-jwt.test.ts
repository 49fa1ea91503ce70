import { expect } from 'chai';
import { jwtVerify } from 'jose';
import { generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { LONGEST_JWT, prepareJwt, signJwt } from '../../../api/oauth/keys/sign-jwt.ts';
import type { SigningAlgorithm, SigningKey } from '../../../api/box/key-ring.ts';

type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

const pairs: Readonly<Record<SigningAlgorithm, () => Pair>> = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

function keyOf(algorithm: SigningAlgorithm): SigningKey {
  const { publicKey, privateKey } = pairs[algorithm]();
  const times = { activeFrom: 0, retiredAt: undefined, signedUntil: Infinity };
  const publicJwk = publicKey.export({ format: 'jwk' });
  return { kid: 'key', algorithm, ...times, publicJwk, publicKey, privateKey: () => privateKey };
}

describe('a signed JWT', () => {
  for (const algorithm of ['ES256', 'RS256', 'EdDSA'] as const) {
    it(`of ${algorithm} verifies, also if it was signed aside`, async () => {
      const key = keyOf(algorithm);
      for (const token of [signJwt('JWT', { sub: '7' }, key), await prepareJwt('JWT', { sub: '7' }, key)()]) {
        const { payload, protectedHeader } = await jwtVerify(token, key.publicKey);
        expect(payload).to.deep.equal({ sub: '7' });
        expect(protectedHeader).to.deep.equal({ alg: algorithm, typ: 'JWT', kid: 'key' });
      }
    });
  }

  for (const [what, sign] of [
    ['at once', signJwt],
    ['aside', prepareJwt],
  ] as const) {
    it(`of more characters than are accepted is not made, ${what}`, () => {
      // E-22: no request could present it.
      const claims = (length: number) => ({ text: 'x'.repeat(length) });
      expect(() => sign('JWT', claims(12_500), keyOf('RS256'))).to.throw(/more than 16384 characters/);
      expect(() => sign('JWT', claims(11_500), keyOf('RS256'))).not.to.throw();
      expect(signJwt('JWT', claims(11_500), keyOf('RS256'))).to.have.length.lessThan(LONGEST_JWT);
    });
  }

  it('of RSA leaves the thread to others while it is signed', async () => {
    const key = keyOf('RS256');
    let isSigned = false;
    const signing = prepareJwt('JWT', {}, key)().then(() => (isSigned = true));
    // All that this thread can do before it turns to what others have finished.
    for (let step = 0; step < 100; step += 1) await Promise.resolve();
    expect(isSigned).to.equal(false);
    await signing;
  });
});
