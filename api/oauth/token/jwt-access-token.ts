import type { SigningKey } from '../../state/key-ring.ts';
import { signJwt } from '../keys/sign-jwt.ts';

/** The claims of a JWT access token (RFC 9068 §2.2); times in seconds since 1970. */
export interface AccessTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly client_id: string;
  readonly aud: string | readonly string[];
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly scope?: string;
  /** Names of the user's groups (§2.2.3.1). */
  readonly groups?: readonly string[];
}

/** Signs an access token: header `typ: at+jwt` (RFC 9068 §2.1). */
export function signAccessToken(claims: AccessTokenClaims, key: SigningKey): string {
  return signJwt('at+jwt', claims, key);
}
