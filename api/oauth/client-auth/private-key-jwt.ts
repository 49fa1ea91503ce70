import { hash } from 'node:crypto';
import type { Client } from '../../../crds/client.ts';
import type { AuthenticationContext } from './context.ts';
import { refusedAssertion } from './client-auth-request.ts';
import type { ClientAssertion } from './client-auth-request.ts';
import { notAuthenticated } from '../oauth-error.ts';
import { clockTolerance, verifyAssertion } from './verify-assertion.ts';
import type { VerifiedClaims } from './verify-assertion.ts';

/** Maximum seconds from now to the `exp` of an assertion, as libraries set it; its use is remembered that long. */
const longestAssertion = 3_600;

/** Characters of a jti. */
const longestJti = 256;

/**
 * Authenticates a client by a JWT of its own key (RFC 7523 §3, OpenID Connect Core §9): `iss` and `sub` are its id,
 * `aud` only this box, `exp` is near, and it was never used. Throws OAuthError `invalid_client`, Outage.
 */
export async function provePrivateKeyJwt(
  assertion: ClientAssertion,
  client: Client,
  { state, statements, services }: AuthenticationContext,
): Promise<void> {
  const now = services.now();
  const claims = await verified(assertion, client, state.box, services);
  const issuer = services.issuer(state);
  checkAudience(claims, [issuer, `${issuer}/auth/token`]);
  if (claims.exp > now / 1000 + longestAssertion + clockTolerance) {
    throw refusedAssertion(`The exp of the assertion must be at most ${String(longestAssertion)} seconds ahead`);
  }
  const use = { box: state.box, client: client.id, jti: useHash(claims.jti, assertion), request: assertion.request };
  // Twice: our own clocks differ as well.
  if (!(await statements.useAssertion({ ...use, expiresAt: Math.ceil(claims.exp) + 2 * clockTolerance }))) {
    throw refusedAssertion('The assertion, or its jti, was used before: make a new one for each request');
  }
}

/** Verifies with the known keys and, if none of them matches, with keys that are fetched again. */
async function verified(
  { text }: ClientAssertion,
  client: Client,
  box: string,
  { clientKeys, now }: AuthenticationContext['services'],
): Promise<VerifiedClaims> {
  const demands = { issuer: client.id, subject: client.id, claims: ['aud'], now: now() };
  for (const how of ['known', 'again'] as const) {
    const keys = await clientKeys.find(client, box, how);
    const claims = keys === undefined ? undefined : await verifyAssertion(text.reveal(), keys, demands);
    if (claims !== undefined) return claims;
  }
  throw notAuthenticated('wrong_assertion', client.id);
}

/** Checks each aud: an assertion for another server could come from it (RFC 7523 §3, draft-ietf-oauth-rfc7523bis). */
function checkAudience({ aud = [] }: VerifiedClaims, ours: readonly string[]): void {
  const audience: readonly unknown[] = typeof aud === 'string' ? [aud] : aud;
  if (audience.length > 0 && audience.every((one) => ours.some((own) => own === one))) return;
  throw refusedAssertion('The aud of the assertion must be the issuer of this server, and nobody else');
}

/**
 * Returns what identifies an assertion: its jti or, without one, the part of it that is signed. A signature is no part
 * of that, because anybody can change an ECDSA signature into another one that is valid.
 */
function useHash(jti: unknown, { text }: ClientAssertion): string {
  if (jti === undefined) return hash('sha256', `\0${text.reveal().replace(/\.[^.]*$/, '')}`, 'hex');
  if (typeof jti === 'string' && jti !== '' && jti.length <= longestJti) return hash('sha256', jti, 'hex');
  throw refusedAssertion(`The jti of the assertion must be text of 1 to ${String(longestJti)} characters`);
}
