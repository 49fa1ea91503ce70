import type { Person } from '../../db/user.ts';
import { uuidV7Time } from '../../db/core/uuid-v7.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';
import { carriesUserRights } from '../../oauth/session/still-granted.ts';
import type { Subject } from '../../policy/policy-index.ts';
import type { RequestParts } from '../../policy/request-object.ts';
import { GRANT_NAMES } from '../../db/session/record.ts';
import type { GrantedToken } from '../../oauth/session/still-granted.ts';

/**
 * Returns a token's session as policies see it (docs/reference/policy-engines.md): client, user and session as in REST,
 * the user's data as a parsed value, claims as in a JWT.
 */
export function sessionParts(
  session: LiveSession,
  issuer: string,
): Pick<RequestParts, 'client' | 'user' | 'session' | 'token'> {
  const { id, client, user, scope, audience, issuedAt, expiresAt } = session;
  return {
    client,
    user: user === null ? undefined : userFields(user),
    session: {
      resourceType: 'Session',
      id,
      type: GRANT_NAMES[session.type],
      client: { resourceType: 'Client', id: client.id },
      user: user === null ? null : { resourceType: 'User', id: String(user.id) },
      scope,
      audience,
      active: true,
      status: 'active',
      created_at: new Date(uuidV7Time(id)).toISOString(),
      expires_at: new Date(expiresAt * 1000).toISOString(),
      closed_at: null,
    },
    token: {
      iss: issuer,
      sub: user === null ? client.id : String(user.id),
      client_id: client.id,
      aud: audience === null || audience.length === 0 ? [issuer] : audience,
      iat: issuedAt,
      exp: expiresAt,
      jti: id,
      ...(scope !== null && { scope }),
    },
  };
}

/** Returns the subject of a session: its client, and its user with the groups they are in now. */
export function subjectOf(
  session: Pick<LiveSession, 'client' | 'user' | 'scope' | 'audience'>,
  issuer: string,
): Subject {
  const { client, user } = session;
  return subjectWith(client.id, user, user === null || carriesUserRights(session, issuer));
}

/** Returns the subject of a client and a user together, with or without the rights of the user. */
export function subjectWith(client: string | undefined, user: Person | null, hasUserRights: boolean): Subject {
  if (user === null) return client === undefined ? {} : { client };
  const groups = user.groups ?? [];
  const [groupIds, groupNames] = [groups.map(({ id }) => id), groups.map(({ name }) => name)];
  return { client, user: { id: user.id, groupIds, groupNames }, withoutUserRights: !hasUserRights };
}

/** Returns a user as policies see it, with its current groups. */
export function userFields({ id, email, email_verified, data, groups }: Person): Readonly<Record<string, unknown>> {
  return {
    resourceType: 'User',
    id,
    email,
    email_verified: email_verified ?? undefined,
    data: data === null ? undefined : parsed(data),
    groups: groups ?? [],
    'group-ids': (groups ?? []).map((group) => group.id),
  };
}

/**
 * Reads the data of a user for policies; undefined if it is not JSON. Of repeated names the last one is used. A whole
 * number that a JavaScript number cannot represent exactly becomes its text: rounded, it would equal its neighbours.
 */
function parsed(text: string): unknown {
  try {
    const value: unknown = LONG_NUMBER.test(text) ? JSON.parse(text, withExactNumber) : JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

const LONG_NUMBER = /\d{16}/;

function withExactNumber(_name: string, value: unknown, { source }: { readonly source?: string } = {}): unknown {
  const isRounded =
    typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source) && !Number.isSafeInteger(value);
  return isRounded ? source : value;
}

/** Token at an app, with what it stands for; the client is undefined only in a question to `$explain`. */
export interface AppToken extends GrantedToken {
  readonly client: string | undefined;
  readonly user: Person | null;
}

/**
 * Returns the subject of a token at an app; undefined if the token is neither for the app nor for the box (RFC 9068
 * §4). The token of a user that is for the box needs the scope `boxgate` to carry the rights of the user.
 */
export function appSubject(token: AppToken, app: string, issuer: string): Subject | undefined {
  const { client, user } = token;
  if (isForApp(token, app, issuer)) return subjectWith(client, user, true);
  if (!isForBox(token, issuer)) return undefined;
  return subjectWith(client, user, user === null || carriesUserRights(token, issuer));
}

/** Checks whether a token is for the app. On the host of the issuer, `https://` and the host is the box instead. */
function isForApp({ audience }: GrantedToken, app: string, issuer: string): boolean {
  const address = `https://${app}`;
  return audience !== null && (audience.includes(app) || (address !== issuer && audience.includes(address)));
}

function isForBox({ audience }: GrantedToken, issuer: string): boolean {
  return audience === null || audience.length === 0 || audience.includes(issuer);
}
