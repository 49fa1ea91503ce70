import type { ClientSecrets, GuessLimits } from '../../credentials/client-secret.ts';
import type { BoxState, ClientState } from '../../box/box-state.ts';
import type { AuthenticationContext } from './context.ts';
import { clientOf } from '../built-in-clients.ts';
import type { ClientAssertion, ClientCredentials } from './client-auth-request.ts';
import type { RefusalReason } from '../../schemas/refusals.ts';
import { notAuthenticated, OAuthError } from '../oauth-error.ts';
import { proveServiceAccount } from './service-account-token.ts';
import type { OAuthServices } from '../services.ts';
import type { GrantType, Client } from '../../../crds/client.ts';
import { isConfidential } from '../../../crds/client-type.ts';
import { hash } from 'node:crypto';
import { refusedAssertion } from './client-auth-request.ts';
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
async function provePrivateKeyJwt(
  assertion: ClientAssertion,
  client: Client,
  { state, statements, services }: AuthenticationContext,
): Promise<void> {
  const now = services.now();
  const claims = await verifiedClaims(assertion, client, state.box, services);
  const issuer = services.issuer(state);
  checkAudience(claims, [issuer, `${issuer}/auth/token`]);
  if (claims.exp > now / 1000 + longestAssertion + clockTolerance) {
    const late = `The exp of the assertion must be at most ${String(longestAssertion)} seconds ahead`;
    throw refusedAssertion(late, 'assertion_time');
  }
  const use = { box: state.box, client: client.id, jti: useHash(claims.jti, assertion), request: assertion.request };
  // Twice: our own clocks differ as well.
  if (!(await statements.useAssertion({ ...use, expiresAt: Math.ceil(claims.exp) + 2 * clockTolerance }))) {
    throw refusedAssertion('The assertion, or its jti, was used before: make a new one for each request');
  }
}

/** Verifies with the known keys and, if none of them matches, with keys that are fetched again. */
async function verifiedClaims(
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

/** Returns the confidential client of these credentials (RFC 6749 §2.3). Throws OAuthError `invalid_client`, Outage. */
export async function authenticateClient(
  credentials: ClientCredentials,
  context: AuthenticationContext,
): Promise<ClientState> {
  if (credentials.assertion === undefined) return authenticateBySecret(credentials, context);
  return authenticateByAssertion(findClient(context, credentials), credentials.assertion, context);
}

/** Dependencies of authentication by a secret. */
interface SecretContext extends Pick<AuthenticationContext, 'state' | 'checks'> {
  readonly services: Pick<OAuthServices, 'secrets' | 'usage' | 'now' | 'issuer'>;
}

/**
 * Returns the client that this secret belongs to. Throws OAuthError `invalid_client`; an unknown client takes the same
 * path, and time, as one with a generated secret.
 */
export async function authenticateBySecret(
  credentials: ClientCredentials,
  { state, services, checks }: SecretContext,
): Promise<ClientState> {
  const { secrets, usage, now } = services;
  const found = findClient({ state, services }, credentials);
  const time = now();
  const used = await verified(liveSecrets(found, time), credentials, secrets, checks.guessLimits);
  if (found === undefined) throw notAuthenticated('unknown_client');
  if (used === undefined) throw notAuthenticated(await wrongSecret(found, credentials, secrets), found.client.id);
  if (!isActive(found, state)) throw notAuthenticated('inactive_client', found.client.id);
  if (used === found.previous?.stored) usage.previousSecretUsed(state.box, found.client.id, used, time);
  return found;
}

/**
 * Returns the valid secrets. The previous one expires by the clock of the service (docs/guides/database.md, Clocks).
 */
function liveSecrets(client: ClientState | undefined, now: number): readonly string[] {
  if (client === undefined) return [];
  const { secrets, previous } = client;
  return previous !== undefined && now < previous.until ? [...secrets, previous.stored] : secrets;
}

/** Returns why no secret fits. Only a generated one is compared with the previous one: it takes no argon2. */
async function wrongSecret(
  { previous }: ClientState,
  credentials: ClientCredentials,
  secrets: ClientSecrets,
): Promise<RefusalReason> {
  if (credentials.secrets.length === 0) return 'no_secret';
  if (previous?.stored.startsWith('$sha256$') !== true) return 'wrong_secret';
  return (await verified([previous.stored], credentials, secrets, undefined)) === undefined
    ? 'wrong_secret'
    : 'retired_secret';
}

/** Dependencies of looking up a client. */
interface Lookup {
  readonly state: BoxState;
  readonly services: Pick<OAuthServices, 'issuer'>;
}

/** Returns the active client that a request names, without proof of its identity; undefined when there is none. */
export function namedClient(context: Lookup, credentials: ClientCredentials): ClientState | undefined {
  const { state } = context;
  const found = findClient(context, credentials);
  return found !== undefined && isActive(found, state) ? found : undefined;
}

/** Response time reveals whether the client exists. That is acceptable: client ids are public. */
async function authenticateByAssertion(
  found: ClientState | undefined,
  assertion: ClientAssertion,
  context: AuthenticationContext,
): Promise<ClientState> {
  if (found === undefined) throw notAuthenticated('unknown_client');
  if (!isActive(found, context.state)) throw notAuthenticated('inactive_client', found.client.id);
  const { serviceAccount } = assertion;
  if (serviceAccount === undefined) await provePrivateKeyJwt(assertion, found.client, context);
  else await proveServiceAccount({ ...assertion, serviceAccount }, found.client, context);
  return found;
}

function findClient({ state, services }: Lookup, credentials: ClientCredentials): ClientState | undefined {
  for (const id of credentials.ids) {
    const found = clientOf(state, id, services.issuer(state));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the stored secret that was sent; undefined when none was. */
async function verified(
  stored: readonly string[],
  sent: ClientCredentials,
  secrets: ClientSecrets,
  guessLimits: GuessLimits | undefined,
): Promise<string | undefined> {
  for (const secret of sent.secrets) {
    const found = await secrets.verify(stored, secret.reveal(), guessLimits);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isActive(client: ClientState, state: BoxState): boolean {
  return client.client.active !== false && state.settings.active !== false;
}

/**
 * Returns the client of a request: authenticated by the proof that it sent, or only named if it sent none and
 * `mustAuthenticate` is false for it (RFC 6749 §3.2.1). Throws OAuthError `invalid_client`, Outage.
 */
export async function identifyClient(
  credentials: ClientCredentials,
  context: AuthenticationContext,
  mustAuthenticate: (client: ClientState) => boolean,
): Promise<ClientState> {
  if (mustProve(credentials, context)) return authenticateClient(credentials, context);
  const named = namedClient(context, credentials);
  if (named === undefined) throw notAuthenticated('unknown_client');
  if (mustAuthenticate(named)) throw notAuthenticated('no_secret', named.client.id);
  return named;
}

/**
 * Checks whether a request must prove its client because it tries to. Basic with an empty secret only names a public
 * client (RFC 6749 §2.3.1); of any other it is a failed proof.
 */
export function mustProve(credentials: ClientCredentials, context: AuthenticationContext): boolean {
  if (credentials.isEmptyBasic !== true) return credentials.method !== 'none';
  const named = namedClient(context, credentials);
  return named === undefined || canAuthenticate(named);
}

/** Throws OAuthError `unauthorized_client` unless the client lists the grant (RFC 6749 §5.2). */
export function requireGrantType({ client }: Pick<ClientState, 'client'>, grant: GrantType): void {
  if (client.grant_types.includes(grant)) return;
  throw new OAuthError('unauthorized_client', `The client may not use the grant ${grant}`);
}

/** Checks whether a client of a box can authenticate itself (RFC 6749 §2.1). */
export function canAuthenticate({ client, secrets, previous }: ClientState): boolean {
  return isConfidential(client, secrets.length > 0 || previous !== undefined);
}

/**
 * Checks whether a client must authenticate itself to redeem a code: by default every confidential one (RFC 6749
 * §4.1.3). With `secret_required: false` PKCE is enough, with `true` no other client can redeem a code.
 */
export function mustAuthenticateForCode(client: ClientState): boolean {
  return client.client.auth?.authorization_code?.secret_required ?? canAuthenticate(client);
}

/** Checks whether a code of this client needs a PKCE challenge: no secret protects it, or its settings say so. */
export function requiresPkce(client: ClientState): boolean {
  return client.client.auth?.authorization_code?.pkce === true || !mustAuthenticateForCode(client);
}
