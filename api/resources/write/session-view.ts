import type { GrantLetter } from '../../db/session/grant-letter.ts';
import { uuidV7Time } from '../../db/core/uuid-v7.ts';
import type { SessionRecord } from '../../db/session/record.ts';
import { withoutClaims } from '../../oauth/scope-text.ts';
import { sessionSchema } from '../../schemas/session.ts';
import type { SessionView } from '../../schemas/session.ts';

/** Names of the grants of sessions, by the letter in the row. */
export const sessionTypes = {
  c: 'client_credentials',
  r: 'refresh_token',
  i: 'implicit',
  a: 'authorization_code',
  p: 'password',
} as const satisfies Record<GrantLetter, string>;

/** The fields of a session as it is shown; there is none for its token or its hash. */
export const sessionElements = Object.keys(sessionSchema.properties);

/** Shows a session. */
export function sessionView(session: SessionRecord): SessionView {
  return {
    resourceType: 'Session',
    id: session.id,
    type: sessionTypes[session.type],
    client: { resourceType: 'Client', id: session.client },
    user: session.user === undefined ? null : { resourceType: 'User', id: String(session.user) },
    scope: withoutClaims(session.scope ?? null),
    audience: session.audience ?? null,
    active: session.status === 'active',
    status: session.status,
    created_at: new Date(uuidV7Time(session.id)).toISOString(),
    expires_at: new Date(session.expiresAt).toISOString(),
    closed_at: session.endedAt === undefined ? null : new Date(session.endedAt).toISOString(),
    parent: session.parent === undefined ? null : { resourceType: 'Session', id: session.parent },
    remote_addr: session.remoteAddr ?? null,
    user_agent: session.userAgent ?? null,
  };
}
