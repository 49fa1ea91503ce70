import { expect } from 'chai';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { isGeneratedSecret } from '../../crds/generated-secret-text.ts';

describe('a generated client secret', () => {
  it('is bgs_ and 48 characters of base64url, another one each time', () => {
    const secrets = Array.from({ length: 100 }, generateClientSecret);
    for (const secret of secrets) expect(secret).to.match(/^bgs_[A-Za-z0-9_-]{48}$/);
    expect(new Set(secrets).size).to.equal(100);
  });

  it('is known for one, so that no slow hash is needed', () => {
    for (let count = 0; count < 100; count += 1) expect(isGeneratedSecret(generateClientSecret())).to.equal(true);
  });

  it('is not known for one with any character changed or left out: a chosen secret is never taken for random', () => {
    const secret = generateClientSecret();
    for (let at = 0; at < secret.length; at += 1) {
      const other = secret[at] === 'A' ? 'B' : 'A';
      expect(isGeneratedSecret(secret.slice(0, at) + other + secret.slice(at + 1))).to.equal(false);
      expect(isGeneratedSecret(secret.slice(0, at) + secret.slice(at + 1))).to.equal(false);
    }
  });

  const chosen = {
    'an empty text': '',
    'the prefix alone': 'bgs_',
    // 36 bytes of zero, whose checksum is not zero.
    'a text whose checksum is wrong': `bgs_${'A'.repeat(48)}`,
    'a sentence': 'correct horse battery staple',
    'a generated one with a blank behind it': `${generateClientSecret()} `,
  };
  for (const [what, text] of Object.entries(chosen)) {
    it(`is not ${what}`, () => {
      expect(isGeneratedSecret(text)).to.equal(false);
    });
  }
});
