import { hash, randomBytes } from 'node:crypto';
import type { ServiceAccountIssuer } from '../../state/cluster-settings.ts';
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

/** Remembers verified tokens under a hash with a key of this process, until they expire. */
export function createServiceAccountTokens(limit = rememberedLimit): ServiceAccountTokens {
  const processKey = randomBytes(32);
  const remembered = new Map<string, Remembered>();

  function remember(mark: string, entry: Remembered): void {
    const oldest = remembered.size >= limit ? remembered.keys().next().value : undefined;
    if (oldest !== undefined) remembered.delete(oldest);
    remembered.set(mark, entry);
  }

  return {
    async verify(text, subject, by, now) {
      const mark = hash('sha256', Buffer.concat([processKey, Buffer.from(text, 'utf8')]), 'hex');
      const known = remembered.get(mark);
      if (known?.by === by && known.claims.exp + clockTolerance > now / 1000) return known.claims;
      remembered.delete(mark);
      const claims = await verifyAssertion(text, by.keys, { issuer: by.issuer, subject, claims: ['aud', 'iat'], now });
      if (claims !== undefined) remember(mark, { by, claims });
      return claims;
    },
  };
}
