import type { Person } from '../db/hot-statements.ts';
import { sessionTime } from '../db/session-id.ts';
import type { LiveSession } from '../oauth/check-token.ts';
import { carriesUserRights } from '../oauth/user-rights.ts';
import type { Subject } from '../policy/policy-index.ts';
import type { RequestParts } from '../policy/request-object.ts';
import { sessionTypes } from '../resources/session-view.ts';

/**
 * What policies see of a token's session (docs/policies.md): client, user and session as REST shows them, the user's data as
 * the value that it is, claims as a JWT's.
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
      created_at: new Date(sessionTime(id)).toISOString(),
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

/** Returns the subject that a client and a user are together, with the rights of the user or without them. */
export function subjectWith(client: string | undefined, user: Person | null, hasUserRights: boolean): Subject {
  if (user === null) return client === undefined ? {} : { client };
  const groups = user.groups ?? [];
  const [groupIds, groupNames] = [groups.map(({ id }) => id), groups.map(({ name }) => name)];
  return { client, user: { id: user.id, groupIds, groupNames }, withoutUserRights: !hasUserRights };
}

/** A user as policies see it, with the groups it is in now. */
export function userFields({ id, email, data, groups }: Person): Readonly<Record<string, unknown>> {
  return {
    resourceType: 'User',
    id,
    email,
    data: data === null ? undefined : parsed(data),
    groups: groups ?? [],
    'group-ids': (groups ?? []).map((group) => group.id),
  };
}

/**
 * Reads the data of a user for policies; undefined where it is not JSON after all. Of equal names the last counts. A whole number that a
 * JavaScript number cannot hold exactly is seen as its text: rounded, it would equal its neighbours.
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
