import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { createVerifyOnce } from '../../credentials/verified-once.ts';
import type { KeyRing, SigningKey } from '../../box/key-ring.ts';
import { LONGEST_JWT } from './sign-jwt.ts';
import { bucketOf } from '../../db/session/bucket.ts';

/** Memory of the JWT access tokens that were verified: an app sends the same token with many requests. */
export interface VerifiedJwts {
  /** Verifies a token as {@link readJwtAccessToken} does, but only once while its key, issuer and times are valid. */
  read(text: string, keys: KeyRing, issuer: string, now: number): Promise<VerifiedJwt | undefined>;
}

interface Remembered {
  readonly token: VerifiedJwt;
  readonly issuer: string;
}

/** Tokens that are remembered, the last ones that were verified: about 3 MB, and the public keys. */
const mostTokens = 10_000;

/** Creates the memory of a replica, for all boxes. No token can be read from it. */
export function createVerifiedJwts(): VerifiedJwts {
  const verifyOnce = createVerifyOnce<Remembered>(mostTokens);
  return {
    async read(text, keys, issuer, now) {
      if (text.length > LONGEST_JWT) return undefined;
      const isStillValid = (known: Remembered) =>
        known.issuer === issuer && isPublished(known.token, keys) && isInTime(known.token, now);
      const found = await verifyOnce(text, isStillValid, async () => {
        const token = await readJwtAccessToken(text, keys, issuer, now);
        return token && { token, issuer };
      });
      return found?.token;
    },
  };
}

/** Returns whether the key that verified a token is published. It is another object once the keys were loaded again. */
function isPublished({ kid, publicKey }: VerifiedJwt, keys: KeyRing): boolean {
  const published = keys.find(kid)?.publicKey;
  return published === publicKey || published?.equals(publicKey) === true;
}

/** A verified JWT access token of ours, and the session that it names; times in seconds since 1970. */
export interface VerifiedJwt {
  /** The session's UUID, 32 hexadecimal digits. */
  readonly id: string;
  readonly bucket: number;
  readonly kid: string;
  readonly publicKey: SigningKey['publicKey'];
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Seconds by which two clocks may differ. */
const clockTolerance = 60;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Verifies a JWT access token of this box (RFC 9068 §4): our key by `kid`, that key's own algorithm, `typ: at+jwt`, the
 * issuer, and every claim we put in. Undefined if any of them is wrong. Fetches nothing, whatever the header says.
 */
export async function readJwtAccessToken(
  text: string,
  keys: KeyRing,
  issuer: string,
  now: number,
): Promise<VerifiedJwt | undefined> {
  if (text.length > LONGEST_JWT || !/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const header = decodeProtectedHeader(text);
    const key = typeof header.kid === 'string' ? keys.find(header.kid) : undefined;
    if (key === undefined) return undefined;
    const { payload } = await jwtVerify(text, key.publicKey, {
      algorithms: [key.algorithm],
      typ: 'at+jwt',
      issuer,
      // Without this jose takes a token that never ends.
      requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id', 'aud'],
      currentDate: new Date(now),
    });
    const { exp, iat, jti } = payload;
    if (exp === undefined || iat === undefined || jti === undefined || !uuid.test(jti)) return undefined;
    const { kid, publicKey } = key;
    const times = { issuedAt: iat, expiresAt: exp };
    const found = { id: jti.replaceAll('-', ''), bucket: bucketOf(iat, exp), kid, publicKey, ...times };
    return isInTime(found, now) ? found : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Returns whether a token is not over, nor of another clock's future (milliseconds since 1970). */
function isInTime({ issuedAt, expiresAt }: Pick<VerifiedJwt, 'issuedAt' | 'expiresAt'>, now: number): boolean {
  return now / 1000 < expiresAt && issuedAt <= now / 1000 + clockTolerance;
}
