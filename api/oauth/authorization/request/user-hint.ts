import type { UserHints } from '../../../credentials/user-hint.ts';
import type { BoxState } from '../../../box/box-state.ts';
import { OAuthError } from '../../oauth-error.ts';
import { formDecode } from '../../token/parameters.ts';
import { compactVerify, decodeJwt, decodeProtectedHeader, errors } from 'jose';
import type { KeyRing } from '../../../box/key-ring.ts';
import { LONGEST_JWT } from '../../keys/sign-jwt.ts';
import { ID_TOKEN_ALGORITHMS } from '../../openid/id-token.ts';

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

/** Name of the parameter that replaces an `id_token_hint` in our own addresses. */
export const USER_HINT = 'boxgate_user_hint';

/** Text of a hint that names nobody: a request with it is refused. */
const NOBODY = 'unreadable';

/**
 * Replaces the `id_token_hint` of an authorization request (OpenID Connect Core §3.1.2.1) by {@link USER_HINT}, which
 * names the same user and holds no token: browsers and proxies keep addresses. `query` is as it came, without its
 * question mark; its other parameters stay as they are, broken ones too. A hint that is not one id_token of this box
 * names nobody; one whose key has been deleted becomes {@link KEY_GONE}.
 */
export async function replaceIdToken(
  query: string,
  { box, keys }: Pick<BoxState, 'box' | 'keys'>,
  issuer: string,
  userHints: UserHints,
): Promise<string> {
  const pairs = query.split('&');
  const hints = pairs.filter((pair) => nameOf(pair) === 'id_token_hint');
  if (hints.length === 0) return query;
  const texts = hints.map(valueOf);
  // An empty parameter is treated as omitted (RFC 6749 §3.1).
  if (texts.every((text) => text === '')) return pairs.filter((pair) => !hints.includes(pair)).join('&');
  const [text = ''] = texts;
  const hint = texts.length === 1 ? await readIdTokenHint(text, keys, issuer) : undefined;
  const others = pairs.filter((pair) => !replaced.has(nameOf(pair)));
  return [...others, `${USER_HINT}=${hintText(hint, box, userHints)}`].join('&');
}

function hintText(hint: IdTokenHint | typeof KEY_GONE | undefined, box: string, userHints: UserHints): string {
  if (hint === undefined) return NOBODY;
  return hint === KEY_GONE ? KEY_GONE : userHints.make({ box, ...hint });
}

const replaced: ReadonlySet<string | undefined> = new Set(['id_token_hint', USER_HINT]);

function nameOf(pair: string): string | undefined {
  return decoded(pair.split('=', 1)[0] ?? '');
}

/** Decodes the value of a parameter; a broken one is no token either. */
function valueOf(pair: string): string {
  const equals = pair.indexOf('=');
  return equals < 0 ? '' : (decoded(pair.slice(equals + 1)) ?? NOBODY);
}

function decoded(text: string): string | undefined {
  try {
    return formDecode(text);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}
