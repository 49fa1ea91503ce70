import { randomUUID } from 'node:crypto';
import type { Box } from '../../crds/box.ts';
import type { Client } from '../../crds/client.ts';
import { familyHash, firstRefreshToken, refreshTokenText, tokenHash } from '../credentials/refresh-token-text.ts';
import type { NewSession, Versioned } from '../db/hot-statements.ts';
import { insertFamily } from '../db/refresh-family.ts';
import { insertSession } from '../db/session.ts';
import type { Transaction } from '../state/state-cache.ts';
import { refreshLifetimes } from './refresh-lifetimes.ts';
import { hasRoom } from './session-limit.ts';

/**
 * Stores a refresh family and its first session; gives the refresh token. The family's row is written first: whoever
 * ends the family ends the session too. Undefined when the box's limit of sessions is reached. `now` in milliseconds.
 * Throws Outage.
 */
export function beginFamily(
  session: NewSession,
  client: Client,
  box: Box,
  transaction: Transaction,
  now: number,
): Promise<Versioned<string | undefined>> {
  const id = randomUUID();
  const token = firstRefreshToken(id.replaceAll('-', ''));
  const { sliding, absolute } = refreshLifetimes(client, box);
  return transaction(async (connection) => {
    if (!(await hasRoom(connection, session, box, now))) return undefined;
    await insertFamily(connection, {
      box: session.box,
      id,
      client: session.client,
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
    await insertSession(connection, session, id, null);
    return refreshTokenText(token);
  });
}
