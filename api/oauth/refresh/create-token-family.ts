import { randomUUID } from 'node:crypto';
import type { Box } from '../../../crds/box.ts';
import { familyHash, firstRefreshToken, refreshTokenText, tokenHash } from '../../credentials/refresh-token-text.ts';
import type { FirstGrant } from '../../db/session/grant-letter.ts';
import type { NewSession } from '../../db/session/issue.ts';
import { insertFamily } from '../../db/session/refresh-family.ts';
import { insertSession } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { Transaction } from '../../state/state-cache.ts';
import { refreshLifetimes } from './refresh-lifetimes.ts';
import type { RefreshSettings } from './settings.ts';
import { hasRoom } from '../token/session-limit.ts';

/** A refresh family that has begun: its id, and its first token. */
export interface CreatedTokenFamily {
  readonly id: string;
  readonly token: string;
}

/** The grant that a family comes from, the settings that its tokens are issued under, and the time of its first one. */
export interface FamilyOrigin {
  readonly grant: FirstGrant;
  /** Time of the user's sign-in in milliseconds since 1970; null: there is none, or it is unknown. */
  readonly authenticatedAt: number | null;
  readonly settings: RefreshSettings;
  readonly box: Box;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Stores a refresh family and its first session; returns the refresh token. Undefined when the box's limit of sessions
 * is reached. Throws Outage.
 */
export function createTokenFamily(
  session: NewSession,
  origin: FamilyOrigin,
  transaction: Transaction,
): Promise<string | undefined> {
  return transaction(async (connection) => {
    if (!(await hasRoom(connection, session, origin.box, origin.now))) return undefined;
    const { id, token } = await storeTokenFamily(connection, session, origin);
    await insertSession(connection, session, id, null);
    return token;
  });
}

/**
 * Stores a refresh family inside a transaction that has made room for its first session, and that stores the session
 * afterwards: so ending the family ends the session too. Throws Outage.
 */
export async function storeTokenFamily(
  connection: Connection,
  session: NewSession,
  { grant, authenticatedAt, settings, box, now }: FamilyOrigin,
): Promise<CreatedTokenFamily> {
  const id = randomUUID();
  const token = firstRefreshToken(id.replaceAll('-', ''));
  const { sliding, absolute } = refreshLifetimes(settings, box);
  await insertFamily(connection, {
    box: session.box,
    id,
    client: session.client,
    user: session.user,
    grant,
    authenticatedAt,
    version: session.version,
    familyHash: familyHash(token),
    tokenHash: tokenHash(token),
    session: session.id,
    scope: session.scope,
    audience: session.audience,
    createdAt: now,
    expiresAt: now + sliding,
    endsAt: now + absolute,
    sessionsEnd: session.expiresAt * 1000,
  });
  return { id, token: refreshTokenText(token) };
}
