import { confirmOnStandby } from '../../db/box/box.ts';
import { canAuthenticate, identifyClient } from '../client-auth/authenticate-client.ts';
import type { AuthenticationContext, RequestChecks } from '../client-auth/context.ts';
import { findSession } from './check-token.ts';
import { endRefreshFamily, endSession } from './end-session.ts';
import { findRefreshToken } from '../refresh/find-refresh-token.ts';
import { OAuthError } from '../oauth-error.ts';
import type { OAuthServices } from '../services.ts';
import type { TokenRequest } from '../token/grants/grant.ts';

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
      throw new OAuthError('unauthorized_client', 'The token was issued to another client');
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
