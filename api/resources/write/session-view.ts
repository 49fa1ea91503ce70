import type { GrantLetter } from '../../db/session/grant-letter.ts';
import { uuidV7Time } from '../../db/core/uuid-v7.ts';
import type { SessionRecord } from '../../db/session/record.ts';

/** Names of the grants of sessions, by the letter in the row. */
export const sessionTypes = {
  c: 'client_credentials',
  r: 'refresh_token',
  i: 'implicit',
  a: 'authorization_code',
  p: 'password',
} as const satisfies Record<GrantLetter, string>;

/** The fields of a session as it is shown; there is none for its token or its hash. */
export const sessionElements = [
  'resourceType',
  'id',
  'type',
  'client',
  'user',
  'scope',
  'audience',
  'active',
  'status',
  'created_at',
  'expires_at',
  'closed_at',
  'parent',
  'remote_addr',
  'user_agent',
] as const;

/** A session as it is shown; absent values are null. */
export type SessionView = Readonly<Record<(typeof sessionElements)[number], unknown>>;

/** Shows a session. */
export function sessionView(session: SessionRecord): SessionView {
  return {
    resourceType: 'Session',
    id: session.id,
    type: sessionTypes[session.type],
    client: { resourceType: 'Client', id: session.client },
    user: session.user === undefined ? null : { resourceType: 'User', id: String(session.user) },
    scope: session.scope ?? null,
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
