import { createVerifyOnce } from '../../credentials/verified-once.ts';
import type { KeyRing } from '../../state/key-ring.ts';
import { isInTime, readJwtAccessToken } from './jwt-check.ts';
import type { VerifiedJwt } from './jwt-check.ts';
import { LONGEST_JWT } from './sign-jwt.ts';

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
