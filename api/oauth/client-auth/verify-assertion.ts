import { errors, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import { notAuthenticated } from '../oauth-error.ts';
import { refusedAssertion, ASSERTION_ALGORITHMS } from './client-auth-request.ts';
import type { OAuthError } from '../oauth-error.ts';
import { createVerifyOnce } from '../../credentials/verified-once.ts';
import type { ServiceAccountIssuer } from '../../box/cluster-settings.ts';

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

/** Seconds by which the clocks of a client and of ours may differ. */
export const clockTolerance = 60;

/** Claims of an assertion after verification: its signer is known, and it is valid now. */
export interface VerifiedClaims extends JWTPayload {
  readonly exp: number;
}

/** Demands on every assertion, beyond its signature. */
export interface Demands {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Verifies an assertion with one of some keys (RFC 7523 §3). Undefined when none of them made its signature. Throws
 * OAuthError when the signature is right and a claim is not: the owner of the key may learn the reason.
 */
export async function verifyAssertion(
  text: string,
  keys: JWTVerifyGetKey,
  demands: Demands,
): Promise<VerifiedClaims | undefined> {
  const options: JWTVerifyOptions = {
    algorithms: [...ASSERTION_ALGORITHMS],
    issuer: demands.issuer,
    subject: demands.subject,
    requiredClaims: ['exp', ...demands.claims],
    currentDate: new Date(demands.now),
    clockTolerance,
  };
  try {
    const { exp, iat, ...payload } = await verifyWithAny(text, keys, options);
    if (exp === undefined) throw refusedAssertion(sentences['exp missing']);
    if (iat !== undefined && iat > demands.now / 1000 + clockTolerance)
      throw refusedAssertion(sentences.iat, 'assertion_time');
    return { ...payload, exp, ...(iat === undefined ? {} : { iat }) };
  } catch (error) {
    throwRefusal(error);
    return undefined;
  }
}

/** Tries each key that matches: a key set may hold several if the header names none. */
async function verifyWithAny(text: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(text, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return verifyWithEach(text, error, options);
  }
}

async function verifyWithEach(
  text: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  for await (const key of candidates) {
    try {
      return (await jwtVerify(text, key, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

/** Throws the refusal for errors that jose or a client's keys cause: only claims are checked after the signature. */
function throwRefusal(error: unknown): void {
  if (error instanceof errors.JWTExpired) throw refusedAssertion(sentences.exp, 'assertion_time');
  if (error instanceof errors.JWTClaimValidationFailed) throw claimRefusal(error);
  const isOfTheInput = error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
  if (!isOfTheInput) throw error;
}

const sentences = {
  exp: 'The assertion has expired (exp): create a new one',
  'exp missing': 'The assertion has no exp (RFC 7523 section 3)',
  nbf: "The nbf of the assertion is in the future: check the client's clock",
  iat: "The iat of the assertion is in the future: check the client's clock",
} as const;

function claimRefusal({ claim, reason }: errors.JWTClaimValidationFailed): OAuthError {
  const plain = /^[a-z]{1,16}$/.test(claim) ? claim : '';
  if (plain === '') return notAuthenticated('wrong_assertion');
  if (reason === 'missing') return refusedAssertion(`The assertion has no ${plain} (RFC 7523 section 3)`);
  if (plain === 'nbf' || plain === 'exp' || plain === 'iat')
    return refusedAssertion(sentences[plain], 'assertion_time');
  return refusedAssertion(`The ${plain} of the assertion is not the one it must be`);
}
