import { expect } from 'chai';
import { makeSessionId } from '../../../api/credentials/token-text.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import { uuidText } from '../../../program/text.ts';
import { createVerifiedJwts } from '../../../api/oauth/keys/verified-jwts.ts';
import { createKeyRing } from '../../../api/box/key-ring.ts';
import { keyRow, sampleSealing } from '../../box/sample-changes.ts';
import { issuer, now, ring, row, seconds, signed } from './sample-jwts.ts';

/** A token of a new session. */
function newToken(): string {
  return signed({ claims: { jti: uuidText(makeSessionId(bucketOf(seconds, seconds + 300), now)) } });
}

describe('the memory of verified JWTs', () => {
  it('verifies a token once: the next time it is the one that was found', async () => {
    const jwts = createVerifiedJwts();
    const token = newToken();
    const found = await jwts.read(token, ring, issuer, now);
    expect(found).to.include({ kid: 'our-key', issuedAt: seconds });
    expect(await jwts.read(token, ring, issuer, now)).to.equal(found);
  });

  it('refuses what it has found once the token is over, or before its time', async () => {
    const jwts = createVerifiedJwts();
    const token = newToken();
    const times = [299_999, 300_000, 0, -60_000, -61_000].map((after) => now + after);
    const isFound: boolean[] = [];
    for (const time of times) isFound.push((await jwts.read(token, ring, issuer, time)) !== undefined);
    expect(isFound).to.deep.equal([true, false, true, true, false]);
  });

  it('refuses what it has found for another issuer, or when its key is no longer published', async () => {
    const jwts = createVerifiedJwts();
    const token = newToken();
    const other = createKeyRing([keyRow('the-next-key')], sampleSealing, 'default');
    const isFound: boolean[] = [];
    for (const [keys, of] of [
      [ring, issuer],
      [ring, 'https://boxgate.test/boxes/other'],
      [ring, issuer],
      [other, issuer],
    ] as const) {
      isFound.push((await jwts.read(token, keys, of, now)) !== undefined);
    }
    expect(isFound).to.deep.equal([true, false, true, false]);
  });

  it('takes a token after its key was loaded again, but not by another key of the same id', async () => {
    const jwts = createVerifiedJwts();
    const token = newToken();
    const found = await jwts.read(token, ring, issuer, now);
    const again = createKeyRing([row], sampleSealing, 'default');
    expect(await jwts.read(token, again, issuer, now)).to.equal(found);
    const another = createKeyRing([keyRow('our-key')], sampleSealing, 'default');
    expect(await jwts.read(token, another, issuer, now)).to.equal(undefined);
  });

  it('refuses a token with another signature, claim or header than the one it has found', async () => {
    const jwts = createVerifiedJwts();
    const token = newToken();
    await jwts.read(token, ring, issuer, now);
    const [head = '', claims = '', signature = ''] = token.split('.');
    const other = newToken().split('.');
    const forged = [
      [head, claims, other[2]],
      [head, other[1], signature],
      [head, claims],
      [head, claims, signature, ''],
    ];
    for (const parts of forged) expect(await jwts.read(parts.join('.'), ring, issuer, now)).to.equal(undefined);
    expect(await jwts.read('x'.repeat(3_000_000), ring, issuer, now)).to.equal(undefined);
  });

  it('keeps the 10,000 tokens that were verified last', async function () {
    this.timeout(60_000);
    const jwts = createVerifiedJwts();
    const tokens = Array.from({ length: 10_001 }, newToken);
    const found = [];
    for (const token of tokens) found.push(await jwts.read(token, ring, issuer, now));
    expect(await jwts.read(tokens[1] ?? '', ring, issuer, now)).to.equal(found[1]);
    const first = await jwts.read(tokens[0] ?? '', ring, issuer, now);
    expect(first?.id).to.equal(found[0]?.id);
    expect(first).not.to.equal(found[0]);
  });
});
