import type { Person } from '../../db/user/person.ts';
import { uuidV7Time } from '../../db/core/uuid-v7.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';
import { carriesUserRights } from '../../oauth/session/user-rights.ts';
import type { Subject } from '../../policy/policy-index.ts';
import type { RequestParts } from '../../policy/request-object.ts';
import { sessionTypes } from '../../records/session.ts';

/**
 * Returns a token's session as policies see it (docs/guides/policies.md): client, user and session as in REST, the
 * user's data as a parsed value, claims as in a JWT.
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
      type: sessionTypes[session.type],
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
      scope: scope ?? undefined,
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
