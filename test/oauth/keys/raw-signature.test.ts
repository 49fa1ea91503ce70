import { expect } from 'chai';
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { rawSignature } from '../../../api/oauth/keys/sign-jwt.ts';

describe('rawSignature', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;

  it('is a signature of 64 bytes that verifies, however short R and S come out', () => {
    const lengths = new Set<number>();
    for (let nth = 0; nth < 3_000; nth += 1) {
      const data = Buffer.from(String(nth));
      const der = sign('sha256', data, privateKey);
      lengths.add(der.length);
      const raw = rawSignature(der);
      expect(raw).to.have.length(64);
      if (!verify('sha256', data, key, raw)) throw new Error(`refused: ${der.toString('hex')}`);
    }
    // 70 to 72 for most of them; one in 256 has an R or an S that leads with a zero byte.
    expect(lengths.size).to.be.greaterThan(3);
  });

  it('puts short integers at the end of their halves', () => {
    const raw = rawSignature(Buffer.from('3007020105020200ff', 'hex'));
    expect(raw.toString('hex')).to.equal(`${'05'.padStart(64, '0')}${'ff'.padStart(64, '0')}`);
  });
});
