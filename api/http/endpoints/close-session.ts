import { findBearerSession } from '../../oauth/session/check-token.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';
import { endSession } from '../../oauth/session/end-session.ts';
import { refuseParameters } from '../../resources/search/parameters.ts';
import { sessionView } from '../../records/session.ts';
import type { ApiContext } from '../server/api-context.ts';
import { bearerToken, missingToken, refusedToken } from '../access/authenticate.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { requestContextOf } from '../request/request-context.ts';
import { originOf } from '../request/origin-of.ts';
import { nothingHere } from '../../nothing-here.ts';
import { queryOf } from '../request/query.ts';
import { negotiate, render } from '../formats/negotiate.ts';
import { send } from '../server/send.ts';

/** `DELETE /Session`: closes the session of the bearer token, which needs no policy; a second call gets a 401. */
export function closeSessionEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const requestContext = requestContextOf(response);
    const { box } = requestContext;
    const query = queryOf(requestContext.path);
    const token = bearerToken(request, query, box);
    if (token === undefined) throw missingToken(box);
    const format = negotiate(request.headers.accept);
    const live = await liveSession(box, token, context);
    if (live === undefined) throw refusedToken(box);
    requestContext.client = live.client.id;
    // A filter would refer to other sessions than the caller's own.
    refuseParameters(query);
    const closed = await endSession(box, { id: live.id, bucket: live.bucket }, 'closed', context.oauth);
    // For two concurrent calls, the second one finds the session already closed.
    if (closed?.ended !== true) throw refusedToken(box);
    const origin = originOf(requestContext, live);
    context.oauth.countedEvents.note({ box, event: 'session.closed', target: `Client/${live.client.id}`, origin });
    send(response, render({ status: 200, body: sessionView(closed.session) }, format), context.onAnswer);
  };
}

async function liveSession(box: string, token: string, { oauth }: ApiContext): Promise<LiveSession | undefined> {
  const found = await oauth.states.decide(box, async (state, statements) => {
    return { live: await findBearerSession(token, { state, statements, services: oauth }) };
  });
  if (found === undefined) throw nothingHere();
  return found.live;
}
