import type { CodeUse } from '../../../db/authorization/use-code.ts';
import type { BoxState } from '../../../state/box-state.ts';
import { configuredUri } from '../../authorization/request/configured-uris.ts';
import { challengeOf } from '../../authorization/validate-code.ts';
import type { PresentedCode } from '../../authorization/validate-code.ts';
import { requiresPkce } from '../../client-auth/client-type.ts';
import { hasIdTokenKey } from '../../openid/id-token.ts';

/** A row that a code must have to be used before it is validated. */
export type ExpectedCode = Omit<CodeUse, 'code' | 'session' | 'now' | 'withPerson'>;

/**
 * Returns what the row of a code must be for `validateCode` to be certain to find it valid, provided that the box has
 * not changed since the code was issued: then scope, audience, client and user are still as they were validated.
 * Undefined if the request alone does not tell; then the code is validated first. `now` in milliseconds.
 */
export function expectedCode(
  { client: holder, redirectUri, verifier, namesTarget }: PresentedCode,
  state: Pick<BoxState, 'keys' | 'revokedBefore'>,
  now: number,
): ExpectedCode | undefined {
  const { client, revokedBefore } = holder;
  const uris = client.auth?.authorization_code;
  if (namesTarget || uris === undefined) return undefined;
  if (redirectUri !== undefined && configuredUri(redirectUri, uris) === undefined) return undefined;
  if (verifier === undefined && requiresPkce(holder)) return undefined;
  return {
    client: client.id,
    redirectUri: redirectUri ?? null,
    challenge: verifier === undefined ? null : challengeOf(verifier),
    since: Math.max(state.revokedBefore ?? 0, revokedBefore ?? 0),
    mayHaveIdToken: hasIdTokenKey(state, client, now),
  };
}
