import type { Person } from '../db/hot-statements.ts';
import { sessionTime } from '../db/session-id.ts';
import type { LiveSession } from '../oauth/check-token.ts';
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
      aud: audience ?? issuer,
      iat: issuedAt,
      exp: expiresAt,
      jti: id,
      scope: scope ?? undefined,
    },
  };
}

/** Whom policies may be linked to: a client, and a user with the groups they are in now. */
export function subjectOf(client: string | undefined, user: Person | null): Subject {
  if (user === null) return client === undefined ? {} : { client };
  const groups = user.groups ?? [];
  const [groupIds, groupNames] = [groups.map(({ id }) => id), groups.map(({ name }) => name)];
  return { client, user: { id: user.id, groupIds, groupNames } };
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

/** Stored as text that was judged when it was set; what is no JSON all the same has no data for a policy. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
