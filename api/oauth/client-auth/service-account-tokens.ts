import { createVerifyOnce } from '../../credentials/verified-once.ts';
import type { ServiceAccountIssuer } from '../../box/cluster-settings.ts';
import { clockTolerance, verifyAssertion } from './verify-assertion.ts';
import type { VerifiedClaims } from './verify-assertion.ts';

/** Verified tokens of ServiceAccounts. A pod repeats a token until the kubelet replaces it: it is verified once. */
export interface ServiceAccountTokens {
  /**
   * Returns the claims of a token of this subject, signed by its cluster; undefined when it is not. Throws OAuthError
   * when it has expired. `now` in milliseconds since 1970.
   */
  verify(text: string, subject: string, by: ServiceAccountIssuer, now: number): Promise<VerifiedClaims | undefined>;
}

interface Remembered {
  /** Issuer whose keys verified it; other keys come as another object. */
  readonly by: ServiceAccountIssuer;
  readonly claims: VerifiedClaims;
}

/** Tokens remembered at once, about 500 bytes each. */
const rememberedLimit = 20_000;

/** Remembers verified tokens. */
export function createServiceAccountTokens(limit = rememberedLimit): ServiceAccountTokens {
  const verifyOnce = createVerifyOnce<Remembered>(limit);
  return {
    async verify(text, subject, by, now) {
      const isStillValid = (known: Remembered) => known.by === by && known.claims.exp + clockTolerance > now / 1000;
      const found = await verifyOnce(text, isStillValid, async () => {
        const wanted = { issuer: by.issuer, subject, claims: ['aud', 'iat'], now };
        const claims = await verifyAssertion(text, by.keys, wanted);
        return claims && { by, claims };
      });
      return found?.claims;
    },
  };
}
