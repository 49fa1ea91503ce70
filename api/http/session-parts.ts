import { sessionTime } from '../db/session-id.ts';
import type { LiveSession } from '../oauth/check-token.ts';
import type { RequestParts } from '../policy/request-object.ts';
import { sessionTypes } from '../resources/session-view.ts';

/** What policies see of a token's session (docs/policies.md): client and session as REST shows them, claims as a JWT's. */
export function sessionParts(session: LiveSession, issuer: string): Pick<RequestParts, 'client' | 'session' | 'token'> {
  const { id, client, scope, audience, issuedAt, expiresAt } = session;
  return {
    client,
    session: {
      resourceType: 'Session',
      id,
      type: sessionTypes[session.type],
      client: { resourceType: 'Client', id: client.id },
      user: session.user === null ? null : { resourceType: 'User', id: String(session.user) },
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
      sub: session.user === null ? client.id : String(session.user),
      client_id: client.id,
      aud: audience ?? issuer,
      iat: issuedAt,
      exp: expiresAt,
      jti: id,
      scope: scope ?? undefined,
    },
  };
}
