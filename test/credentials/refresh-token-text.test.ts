import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  familyHash,
  firstRefreshToken,
  nextRefreshToken,
  openSuccessor,
  parseRefreshToken,
  refreshTokenText,
  sealSuccessor,
  tokenHash,
} from '../../api/credentials/refresh-token-text.ts';

function newFamily() {
  return firstRefreshToken(randomUUID().replaceAll('-', ''));
}

describe('the text of a refresh token', () => {
  it('is bgr_ and 96 characters of base64url', () => {
    expect(refreshTokenText(newFamily())).to.match(/^bgr_[A-Za-z0-9_-]{96}$/);
  });

  it('says its family, generation and both secrets', () => {
    const first = newFamily();
    for (const token of [first, nextRefreshToken(first), nextRefreshToken(nextRefreshToken(first))]) {
      expect(parseRefreshToken(refreshTokenText(token))).to.deep.equal(token);
    }
  });

  it('is refused with any one of its characters changed or left out', () => {
    const text = refreshTokenText(newFamily());
    for (let at = 0; at < text.length; at += 1) {
      for (const sign of 'AQz09-_') {
        if (sign !== text[at])
          expect(parseRefreshToken(text.slice(0, at) + sign + text.slice(at + 1))).to.equal(undefined);
      }
      expect(parseRefreshToken(text.slice(0, at) + text.slice(at + 1))).to.equal(undefined);
    }
  });

  it('of the next generation belongs to the same family and has a secret of its own', () => {
    const first = newFamily();
    const next = nextRefreshToken(first);
    expect(next.generation).to.equal(1);
    expect(familyHash(next)).to.equal(familyHash(first));
    expect(tokenHash(next)).not.to.equal(tokenHash(first));
  });
});

describe('a sealed successor', () => {
  const before = newFamily();
  const next = nextRefreshToken(before);

  it('is read by who holds the token before it', () => {
    expect(openSuccessor(sealSuccessor(next, before), before)).to.deep.equal(next);
  });

  it('shows nothing of the token and is another text each time', () => {
    const sealed = sealSuccessor(next, before);
    expect(sealed.includes(next.tokenSecret)).to.equal(false);
    expect(sealed.equals(sealSuccessor(next, before))).to.equal(false);
  });

  const strangers = {
    'another family': newFamily(),
    'the successor itself': next,
    'a token of the family with a guessed secret': { ...before, tokenSecret: Buffer.alloc(32) },
    'the right secret in a guessed family': { ...before, familySecret: Buffer.alloc(16) },
  };
  for (const [who, token] of Object.entries(strangers)) {
    it(`is not read by ${who}`, () => {
      expect(() => openSuccessor(sealSuccessor(next, before), token)).to.throw();
    });
  }

  it('is not read when any byte of it changed, nor when it was cut short', () => {
    const sealed = sealSuccessor(next, before);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => openSuccessor(changed, before)).to.throw();
      expect(() => openSuccessor(sealed.subarray(0, at), before)).to.throw();
    }
  });
});
