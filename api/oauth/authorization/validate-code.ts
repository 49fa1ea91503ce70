import { hash } from 'node:crypto';
import { equal } from '../../credentials/client-secret.ts';
import type { CodeParts } from '../../credentials/code-text.ts';
import type { StoredCode } from '../../db/authorization/authorization-code.ts';
import type { BoxState, ClientState } from '../../box/box-state.ts';
import { requiresPkce } from '../client-auth/authenticate-client.ts';
import { isRevoked } from '../session/still-granted.ts';
import { configuredUri, onlyUri } from './authorization-response.ts';

/** A code as a client presents it. */
export interface PresentedCode {
  readonly code: CodeParts;
  readonly client: ClientState;
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
}

/** `used`: somebody got tokens for it already, and one of the two is a thief (RFC 6749 §4.1.2). */
export type CodeVerdict = 'good' | 'used' | 'refused';

/** Pure: validates a code for the client that presents it; `now` in milliseconds. */
export function validateCode(
  stored: StoredCode,
  { code, client, redirectUri, verifier }: PresentedCode,
  box: Pick<BoxState, 'sessionsFrom' | 'revokedBefore'>,
  now: number,
): CodeVerdict {
  if (stored.hash === null || !equal(stored.hash, code.hash)) return 'refused';
  if (stored.used) return 'used';
  const isTheirs = stored.client === client.client.id && isStillItsTarget(stored, client, redirectUri);
  const counts =
    stored.expiresAt > now &&
    stored.person !== null &&
    !isRevoked(stored.version, stored.createdAt, client) &&
    !isRevoked(stored.version, stored.createdAt, box);
  return isTheirs && counts && isVerified(stored.challenge, verifier, client) ? 'good' : 'refused';
}

/**
 * Checks that the token request names the redirect URI as the authorization request did (RFC 6749 §4.1.3), and that the
 * client still has it. A code does not store one that was left out, so any change of the client since then refuses it.
 */
function isStillItsTarget(
  { redirectUri: named, version }: StoredCode,
  { client, changedIn }: ClientState,
  redirectUri: string | undefined,
): boolean {
  const uris = client.auth?.authorization_code;
  if (uris === undefined) return false;
  if (named === null) return version >= changedIn && (redirectUri === undefined || redirectUri === onlyUri(uris));
  return redirectUri === named && configuredUri(named, uris) !== undefined;
}

/**
 * Checks the PKCE verifier (RFC 7636 §4.6). A verifier without a challenge is wrong too: somebody removed the challenge
 * (RFC 9700 §4.8.2). So is a code without a challenge if its client now needs one.
 */
function isVerified(challenge: string | null, verifier: string | undefined, client: ClientState): boolean {
  if (challenge === null) return verifier === undefined && !requiresPkce(client);
  if (verifier === undefined) return false;
  return equal(hash('sha256', verifier, 'base64url'), challenge);
}
