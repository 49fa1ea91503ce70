import type { UserHints } from '../../../credentials/user-hint.ts';
import type { BoxState } from '../../../box/box-state.ts';
import { OAuthError } from '../../oauth-error.ts';
import { KEY_GONE, readIdTokenHint } from '../../openid/id-token-hint.ts';
import type { IdTokenHint } from '../../openid/id-token-hint.ts';
import { formDecode } from '../../token/parameters.ts';

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
