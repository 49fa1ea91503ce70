import { allows } from '../../../crds/compatibility.ts';
import type { Client } from '../../../crds/client.ts';
import { uuidV7Time } from '../../db/core/uuid-v7.ts';
import { uuidText } from '../../../program/text.ts';
import { parseAccessToken } from '../../credentials/token-text.ts';
import type { FirstGrant, GrantLetter } from '../../db/session/record.ts';
import type { FoundSession, SessionKey } from '../../db/hot/check.ts';
import type { Person } from '../../db/user.ts';
import type { BoxState, ClientState } from '../../box/box-state.ts';
import type { CurrentStatements } from '../../box/state-cache.ts';
import { clientOf } from '../built-in-clients.ts';
import { isRevoked, stillGranted } from './still-granted.ts';
import { claimsFor, withoutClaims } from '../scope-text.ts';
import type { OAuthServices } from '../services.ts';

/** A live session as its token proves it; times in seconds since 1970. */
export interface LiveSession {
  readonly id: string;
  readonly client: Client;
  /** Null: the client's own session. */
  readonly user: Person | null;
  readonly type: GrantLetter;
  /** The grant that it came from; of a refreshed session, its family's. */
  readonly grant: FirstGrant;
  readonly scope: string | null;
  /** Claims that its client requested by name for userinfo; undefined: none. */
  readonly claims?: readonly string[];
  readonly audience: readonly string[] | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly format: 'opaque' | 'jwt';
}

/** Dependencies of a check: a box's configuration at one version, and the statements bound to it. */
export interface CheckContext {
  readonly state: BoxState;
  readonly statements: CurrentStatements;
  readonly services: OAuthServices;
}

/**
 * Returns the session of an access token, opaque or JWT, if it is valid here now, for any audience, with the scope and
 * audience that its client may still request; else undefined.
 */
export function checkToken(text: string, context: CheckContext): Promise<LiveSession | undefined> {
  return findValid(text, context, stillValid);
}

/**
 * Finds the session of an access token that has not ended, even if its client may no longer request it: a session must
 * be found to be ended also while it is not valid, since it can become valid again.
 */
export function findSession(text: string, context: CheckContext): Promise<LiveSession | undefined> {
  return findValid(text, context, asItIs);
}

/** Validates a session that has not ended; returns undefined if it is not valid. */
type Validate = (session: LiveSession, context: CheckContext) => LiveSession | undefined;

function asItIs(session: LiveSession): LiveSession {
  return session;
}

/** Finds and validates a session. One function awaits all results, because each further one would cost a promise. */
async function findValid(text: string, context: CheckContext, validate: Validate): Promise<LiveSession | undefined> {
  const { state, statements, services } = context;
  const opaque = parseAccessToken(text);
  const key = opaque === undefined ? await jwtKey(text, state, services) : { box: state.box, ...opaque };
  if (key === undefined) return undefined;
  const found = await statements.check(key);
  if (found === undefined) return undefined;
  const owner = clientOf(state, found.client, services.issuer(state));
  const live = validateSession(key, found, { owner, state, now: services.now() });
  return claimsApart(live && validate(live, context));
}

/** Takes the claims that were requested by name out of the scope of a session. */
function claimsApart(session: LiveSession | undefined): LiveSession | undefined {
  if (session?.scope?.includes('"') !== true) return session;
  return { ...session, scope: withoutClaims(session.scope), claims: claimsFor('userinfo', session.scope) };
}

/**
 * Returns the session of a token sent to one of the box's own endpoints: {@link checkToken}, and it was issued for
 * them. A token for another audience is valid there only while the box's `foreign_audience` allows it (RFC 9068 §4).
 */
export function checkBearer(text: string, context: CheckContext): Promise<LiveSession | undefined> {
  return findValid(text, context, validForBox);
}

/** Finds the session of a bearer token that is to be closed: {@link findSession}, and it was issued for the box. */
export function findBearerSession(text: string, context: CheckContext): Promise<LiveSession | undefined> {
  return findValid(text, context, ifForBox);
}

function validForBox(session: LiveSession, context: CheckContext): LiveSession | undefined {
  const valid = stillValid(session, context);
  return valid && ifForBox(valid, context);
}

function ifForBox(session: LiveSession, context: CheckContext): LiveSession | undefined {
  return isForBox(session, context) ? session : undefined;
}

function isForBox({ audience }: LiveSession, { state, services }: CheckContext): boolean {
  if (audience === null || allows(state.settings, 'foreign_audience')) return true;
  return audience.includes(services.issuer(state));
}

/** Returns a JWT's session key, its jti, once the signature is verified: closing a session ends JWTs too (T-32). */
async function jwtKey(text: string, state: BoxState, services: OAuthServices): Promise<SessionKey | undefined> {
  const issuer = services.issuer(state);
  const parts = await services.verifiedJwts.read(text, state.keys, issuer, services.now());
  return parts && { box: state.box, bucket: parts.bucket, id: parts.id, hash: null };
}

function stillValid(session: LiveSession, { state, services }: CheckContext): LiveSession | undefined {
  const issuer = services.issuer(state);
  const owner = clientOf(state, session.client.id, issuer);
  const granted = owner && stillGranted(session, owner, state.settings, issuer);
  // Nearly always the same as issued.
  const isSame = granted?.scope === session.scope && granted.audience === session.audience;
  return isSame ? session : granted && { ...session, ...granted };
}

/** The client of a session, undefined if it is gone, and the state of its box; `now` in milliseconds since 1970. */
interface Surroundings {
  readonly owner: ClientState | undefined;
  readonly state: Pick<BoxState, 'sessionsFrom' | 'revokedBefore' | 'settings'>;
  readonly now: number;
}

/** Returns a stored session if it is valid now (pure). Revocations apply by config version. */
export function validateSession(
  key: SessionKey,
  found: FoundSession,
  { owner, state, now }: Surroundings,
): LiveSession | undefined {
  const begun = uuidV7Time(key.id);
  const counts =
    !found.ended &&
    found.expiresAt * 1000 > now &&
    !isRevoked(found.version, begun, state) &&
    state.settings.active !== false;
  const { grant } = found;
  if (!counts || grant === null || owner === undefined || owner.client.active === false) return undefined;
  if (isRevoked(found.version, begun, owner)) return undefined;
  return {
    id: uuidText(key.id),
    client: owner.client,
    user: found.user,
    type: found.type,
    grant,
    scope: found.scope,
    audience: found.audience,
    issuedAt: Math.floor(begun / 1000),
    expiresAt: found.expiresAt,
    format: key.hash === null ? 'jwt' : 'opaque',
  };
}
