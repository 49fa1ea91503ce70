import { compactVerify, decodeJwt, decodeProtectedHeader, errors } from 'jose';
import type { KeyRing } from '../../box/key-ring.ts';
import { LONGEST_JWT } from '../keys/sign-jwt.ts';
import { ID_TOKEN_ALGORITHMS } from './id-token.ts';

/** User and client of an id_token that we issued. */
export interface IdTokenHint {
  readonly client: string;
  readonly user: number;
}

/** Result for a hint that claims to be ours, but whose key this box no longer has: nothing in it can be verified. */
export const KEY_GONE = 'key-gone';

/**
 * Reads an `id_token_hint` (OpenID Connect Core §3.1.2.1, RP-Initiated Logout §2): an id_token that this box signed,
 * even an expired one. Undefined for anything else.
 */
export async function readIdTokenHint(
  text: string,
  keys: KeyRing,
  issuer: string,
): Promise<IdTokenHint | typeof KEY_GONE | undefined> {
  if (text.length > LONGEST_JWT) return undefined;
  try {
    const { kid, typ, alg } = decodeProtectedHeader(text);
    if (typeof kid !== 'string' || typ !== 'JWT') return undefined;
    const key = keys.find(kid);
    if (key === undefined) {
      const isOurs = isAlgorithm(alg) && hintIn(decodeJwt(text), issuer) !== undefined;
      return isOurs ? KEY_GONE : undefined;
    }
    const { payload } = await compactVerify(text, key.publicKey, { algorithms: [key.algorithm] });
    return hintIn(JSON.parse(new TextDecoder().decode(payload)), issuer);
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
      return undefined;
    throw error;
  }
}

function isAlgorithm(alg: string | undefined): boolean {
  return ID_TOKEN_ALGORITHMS.some((one) => one === alg);
}

function hintIn(claims: unknown, issuer: string): IdTokenHint | undefined {
  if (typeof claims !== 'object' || claims === null) return undefined;
  const known = new Map<string, unknown>(Object.entries(claims));
  const [client, user] = [known.get('aud'), known.get('sub')];
  if (known.get('iss') !== issuer || typeof client !== 'string' || typeof user !== 'string') return undefined;
  return /^\d{1,15}$/.test(user) ? { client, user: Number(user) } : undefined;
}
