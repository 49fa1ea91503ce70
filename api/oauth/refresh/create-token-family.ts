import { randomUUID } from 'node:crypto';
import type { Box } from '../../../crds/box.ts';
import { familyHash, firstRefreshToken, refreshTokenText, tokenHash } from '../../credentials/refresh-token-text.ts';
import type { FirstGrant } from '../../db/session/record.ts';
import type { NewSession } from '../../db/hot/issue.ts';
import { insertFamily } from '../../db/session/refresh-family.ts';
import type { NewRefreshFamily } from '../../db/session/refresh-family.ts';
import { insertSession } from '../../db/session/session.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { GrantContext } from '../token/grants/grant.ts';
import { refreshLifetimes } from './settings.ts';
import type { RefreshSettings } from './settings.ts';
import { limitsSessions, takePlace } from '../token/access-token.ts';

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
  readonly hasDefaultScope: boolean;
  readonly settings: RefreshSettings;
  readonly box: Box;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The origin of a family of a client itself: nobody signed in. */
export type ClientFamilyOrigin = FamilyOrigin & {
  readonly grant: 'c';
  readonly authenticatedAt: null;
  readonly hasDefaultScope: false;
};

/**
 * Stores the refresh family of a client itself and its first session, in a batch, or in a transaction if the box limits
 * sessions; returns the refresh token. Undefined when that limit is reached. Throws Outage.
 */
export async function createTokenFamily(
  session: NewSession,
  origin: ClientFamilyOrigin,
  { statements, transaction }: Pick<GrantContext, 'statements' | 'transaction'>,
): Promise<string | undefined> {
  if (!limitsSessions(origin.box)) {
    const { family, token } = newTokenFamily(session, origin);
    await statements.issueFamily({ session, family: { ...family, user: null, authenticatedAt: null } });
    return token;
  }
  return transaction(async (connection) => {
    if (!(await takePlace(connection, session, origin.box, origin.now))) return undefined;
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
  origin: FamilyOrigin,
): Promise<CreatedTokenFamily> {
  const { family, token } = newTokenFamily(session, origin);
  await insertFamily(connection, family);
  return { id: family.id, token };
}

/** Makes a refresh family for its first session, and its first token. */
function newTokenFamily(
  session: NewSession,
  { grant, authenticatedAt, hasDefaultScope, settings, box, now }: FamilyOrigin,
): { readonly family: NewRefreshFamily; readonly token: string } {
  const id = randomUUID();
  const token = firstRefreshToken(id.replaceAll('-', ''), hasDefaultScope);
  const { sliding, absolute } = refreshLifetimes(settings, box);
  const family = {
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
  };
  return { family, token: refreshTokenText(token) };
}
