import { endFamilies, endFamily, endSession as endStoredSession, endSessions } from '../../db/session/session.ts';
import type { EndedSession, SessionEnd, SessionEnding } from '../../db/session/session.ts';
import { confirmOnStandby, demandStandbyForBox } from '../../db/box/box.ts';
import { inBox } from '../../db/core/transaction.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { OAuthServices } from '../services.ts';
import type { IssuedTokens } from '../../db/authorization/authorization-code.ts';
import { canAuthenticate, identifyClient } from '../client-auth/authenticate-client.ts';
import type { AuthenticationContext, RequestChecks } from '../client-auth/context.ts';
import { findSession } from './check-token.ts';
import { findRefreshToken } from '../refresh/validate-refresh.ts';
import { OAuthError } from '../oauth-error.ts';
import type { TokenRequest } from '../token/grants/grant.ts';

type EndingServices = Pick<OAuthServices, 'pool' | 'now' | 'revocationsNeedStandby'>;

/**
 * Ends a session and its refresh family. After it has returned no replica accepts its token; with a synchronous standby
 * demanded, not even after a failover. Undefined when there is no such session. Throws Outage.
 */
export function endSession(
  box: string,
  id: string,
  as: SessionEnd,
  services: EndingServices,
): Promise<EndedSession | undefined> {
  return ending(box, services, (connection) => endStoredSession(connection, box, id, { as, now: services.now() }));
}

/** Ends a refresh family and its living sessions, in the same way; also when its last session is long gone. */
export function endRefreshFamily(box: string, family: string, as: SessionEnd, services: EndingServices): Promise<void> {
  return ending(box, services, (connection) => endFamily(connection, box, family, { as, now: services.now() }));
}

function ending<T>(box: string, services: EndingServices, work: (connection: Connection) => Promise<T>): Promise<T> {
  return inBox(services.pool, box, 'write', async (connection) => {
    if (services.revocationsNeedStandby) await demandStandbyForBox(connection, box);
    return work(connection);
  });
}

/** Ends the tokens of authorizations: their refresh families with all living sessions, and the sessions without one. */
export async function endTokens(
  connection: Connection,
  box: string,
  issued: readonly IssuedTokens[],
  ending: SessionEnding,
): Promise<void> {
  const families = new Set(issued.flatMap(({ family }) => family ?? []));
  await endFamilies(connection, box, [...families], ending);
  const alone = issued.flatMap(({ session, family }) => (family === null ? [session] : []));
  await endSessions(connection, box, alone, ending);
}

/** Session or family of a token to be revoked, and its client. */
type Found = { readonly client: string } & ({ readonly session: string } | { readonly family: string });

/**
 * Serves the revocation endpoint (RFC 7009): ends the session of an access token, or of a refresh token, with its whole
 * family. An invalid token is no error (§2.2); another client's is never revoked (§2.1). False when there is no such
 * box. Throws OAuthError, Outage.
 */
export async function revoke(request: TokenRequest, services: OAuthServices, checks: RequestChecks): Promise<boolean> {
  const { box, credentials, parameters } = request;
  const text = parameters.get('token');
  if (text === undefined) throw new OAuthError('invalid_request', 'token is missing');
  const decided = await services.states.decide<Found | 'nothing'>(box, async (state, statements, transaction) => {
    const context = { state, statements, transaction, services, checks };
    // A public client proves no identity, but can revoke only tokens of its own.
    const caller = await identifyClient(credentials, context, canAuthenticate);
    const found = await findToken(text, context);
    if (found !== 'nothing' && found.client !== caller.client.id) {
      throw new OAuthError('unauthorized_client', 'The token was issued to another client', {
        reason: 'token_of_another_client',
      });
    }
    return found;
  });
  if (decided === undefined) return false;
  if (decided !== 'nothing') await end(request, decided, services);
  // An earlier call may have ended it without being confirmed.
  else if (services.revocationsNeedStandby) await confirmOnStandby(services.pool, box);
  return true;
}

async function findToken(text: string, context: AuthenticationContext): Promise<Found | 'nothing'> {
  if (text.startsWith('bgr_')) {
    const found = await findRefreshToken(text, context);
    return found === undefined ? 'nothing' : { client: found.family.client, family: found.family.id };
  }
  const found = await findSession(text, context);
  if (found === undefined) return 'nothing';
  return { client: found.client.id, session: found.id };
}

/** Ends the session or the family that was found; the record is made in the background, when it has ended. */
async function end({ box, remoteAddr, requestId }: TokenRequest, found: Found, services: OAuthServices) {
  const { client } = found;
  if ('family' in found) await endRefreshFamily(box, found.family, 'closed', services);
  else if ((await endSession(box, found.session, 'closed', services))?.ended !== true) return;
  const session = 'session' in found ? found.session : undefined;
  const origin = { client, session, remoteAddr: remoteAddr ?? undefined, requestId };
  services.countedEvents.note({ box, event: 'session.closed', target: `Client/${client}`, origin });
}
