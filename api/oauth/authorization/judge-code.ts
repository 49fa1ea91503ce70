import { hash } from 'node:crypto';
import { equal } from '../../credentials/equal.ts';
import type { CodeParts } from '../../credentials/code-text.ts';
import type { FoundCode } from '../../db/hot-statements.ts';
import type { BoxState, ClientState } from '../../state/box-state.ts';

/** A code as a client presents it. */
export interface PresentedCode {
  readonly code: CodeParts;
  readonly client: ClientState;
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
}

/** `used`: somebody had tokens for it already, and one of the two is a thief (RFC 6749 §4.1.2). */
export type CodeVerdict = 'good' | 'used' | 'refused';

/** Pure: judges a code for the client that presents it; `now` in milliseconds. */
export function judgeCode(
  answer: FoundCode,
  { code, client, redirectUri, verifier }: PresentedCode,
  box: Pick<BoxState, 'sessionsFrom' | 'revokedBefore'>,
  now: number,
): CodeVerdict {
  if (answer.hash === null || !equal(answer.hash, code.hash)) return 'refused';
  if (answer.used) return 'used';
  const configured = client.client.auth?.authorization_code?.redirect_uri;
  // Of a request that left it out there is only the configured one, named or not.
  const isPlace =
    redirectUri === (answer.redirectUri ?? configured) || (answer.redirectUri ?? redirectUri) === undefined;
  const isTheirs = answer.client === client.client.id && isPlace;
  const counts =
    answer.expiresAt > now &&
    !answer.userGone &&
    answer.version >= client.sessionsFrom &&
    answer.version >= box.sessionsFrom &&
    answer.createdAt >= (box.revokedBefore ?? 0) &&
    answer.createdAt >= (client.revokedBefore ?? 0);
  return isTheirs && counts && isVerified(answer.challenge, verifier) ? 'good' : 'refused';
}

/** RFC 7636 §4.6. A verifier where no challenge was is no less wrong: somebody took the challenge away (RFC 9700 §4.8.2). */
function isVerified(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null || verifier === undefined) return challenge === null && verifier === undefined;
  return equal(hash('sha256', verifier, 'base64url'), challenge);
}
