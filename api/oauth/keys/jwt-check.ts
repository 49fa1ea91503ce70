import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { bucketOf } from '../../db/session/bucket.ts';
import { LONGEST_JWT } from './sign-jwt.ts';
import type { KeyRing, SigningKey } from '../../state/key-ring.ts';

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
export function isInTime({ issuedAt, expiresAt }: Pick<VerifiedJwt, 'issuedAt' | 'expiresAt'>, now: number): boolean {
  return now / 1000 < expiresAt && issuedAt <= now / 1000 + clockTolerance;
}
