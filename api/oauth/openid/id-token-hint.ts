import { compactVerify, decodeProtectedHeader, errors } from 'jose';
import type { KeyRing } from '../../state/key-ring.ts';

/** Whom a former id_token of ours was about, and for whom. */
export interface IdTokenHint {
  readonly client: string;
  readonly user: number;
}

/** Characters; more is no id_token of ours. */
const longestHint = 16_384;

/**
 * Reads an `id_token_hint` (OpenID Connect Core §3.1.2.1, RP-Initiated Logout §2): an id_token that this box signed, also one
 * that has expired. Undefined when it is none, or its key is gone.
 */
export async function readIdTokenHint(text: string, keys: KeyRing, issuer: string): Promise<IdTokenHint | undefined> {
  if (text.length > longestHint) return undefined;
  try {
    const { kid, typ } = decodeProtectedHeader(text);
    const key = typeof kid === 'string' ? keys.find(kid) : undefined;
    if (key === undefined || typ !== 'JWT') return undefined;
    const { payload } = await compactVerify(text, key.publicKey, { algorithms: [key.algorithm] });
    return hintIn(JSON.parse(new TextDecoder().decode(payload)), issuer);
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
      return undefined;
    throw error;
  }
}

function hintIn(claims: unknown, issuer: string): IdTokenHint | undefined {
  if (typeof claims !== 'object' || claims === null) return undefined;
  const known = new Map<string, unknown>(Object.entries(claims));
  const [client, user] = [known.get('aud'), known.get('sub')];
  if (known.get('iss') !== issuer || typeof client !== 'string' || typeof user !== 'string') return undefined;
  return /^\d{1,15}$/.test(user) ? { client, user: Number(user) } : undefined;
}
