import type { Box } from '../../../crds/box.ts';
import type { Person } from '../../db/user.ts';
import { nothingHere, Problem } from '../../problem.ts';
import { UI_CLIENT } from '../../../crds/reserved-ids.ts';
import { checkBearer } from '../../oauth/session/check-token.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';
import { carriesUserRights } from '../../oauth/session/still-granted.ts';
import { refuseParameters } from '../../records/search/parameters.ts';
import type { GuessPassword } from '../../records/record.ts';
import type { BoxState } from '../../box/box-state.ts';
import { mayList } from '../access/authorize.ts';
import type { AskedList } from '../access/authorize.ts';
import { bearerToken, missingToken, refusedToken } from '../access/authenticate.ts';
import { decideWithBody, resourceBody } from '../formats/resource-body.ts';
import { negotiate, render } from '../formats/negotiate.ts';
import { originOf, refusing, requestContextOf } from '../request/request-context.ts';
import { queryOf } from '../request/query.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint, PathParameters } from '../request/request-context.ts';
import { personal, send } from '../server/send.ts';
import { guessOverRest } from '../throttle/password-guess.ts';
import { hashSharer, servicesOf } from '../throttle/hash-sharer.ts';
import type { RequestServices } from '../throttle/hash-sharer.ts';
import type { ResourceAnswer } from './resource-exchange.ts';

/** A request of the account page: its user is the one of the token, and nobody else. */
export interface AccountExchange {
  readonly box: string;
  readonly settings: Box;
  readonly user: number;
  readonly parameters: PathParameters;
  readonly body: unknown;
  readonly guessPassword: GuessPassword;
  /** Checks whether the policies let the user read a list. */
  readonly mayList: (list: Pick<AskedList, 'path' | 'kind'>) => Promise<boolean>;
}

type AccountHandler = (exchange: AccountExchange, services: RequestServices) => Promise<ResourceAnswer>;

/**
 * Handles a request about the own account. It needs no policy, but a token that the admin UI of this box got for its
 * user: with a policy of its own, no other app may do this in the name of a user.
 */
export function withOwnAccount(context: ApiContext, handler: AccountHandler): Endpoint {
  return async (request, response, parameters) => {
    const requestContext = requestContextOf(response);
    const { box, path, remoteAddr } = requestContext;
    const query = queryOf(path);
    const token = bearerToken(request, query, box); //          RFC 6750 §2.1
    if (token === undefined) throw missingToken(box);
    const body = resourceBody(request);
    const owner = await decideWithBody(request, body, () => ownerOf(box, token, context));
    const { session, user, state } = owner;
    const parsed = await body?.read();
    requestContext.client = session.client.id;
    const format = negotiate(request.headers.accept); //        RFC 9110 §12.5.1
    refuseParameters(query);
    if (parsed instanceof Problem) throw parsed;
    const onRefused = refusing(requestContext);
    const guess = { box, address: remoteAddr, onRefused, by: user.id };
    const exchange: AccountExchange = {
      box,
      settings: state.settings,
      user: user.id,
      parameters,
      body: parsed,
      guessPassword: (who, verify) => guessOverRest(context, guess, who, verify),
      mayList: (list) => mayList({ ...list, box, remoteAddr, request }, session, state, context.oauth),
    };
    const sharer = hashSharer(context.throttle, box, remoteAddr);
    const services = servicesOf(context.oauth, sharer, originOf(requestContext, session));
    const answer = render(await handler(exchange, services), format);
    send(response, { ...answer, headers: { ...personal, ...answer.headers } }, context.onAnswer);
  };
}

/** The signed-in user, and the session of the admin UI. */
interface Owner {
  readonly session: LiveSession;
  readonly user: Person;
  readonly state: BoxState;
}

/** Throws Problem `unauthenticated`, `forbidden` for the token of another app or of a client, or `not-found`. */
async function ownerOf(box: string, token: string, { oauth }: ApiContext): Promise<Owner> {
  const found = await oauth.states.decide(box, async (state, statements) => {
    const session = await checkBearer(token, { state, statements, services: oauth });
    return { session, state };
  });
  if (found === undefined) throw nothingHere();
  const { session, state } = found;
  if (session === undefined) throw refusedToken(box);
  const { client, user } = session;
  // A stored client that has had this ID since before the ID was reserved is another app.
  const isUi = client.id === UI_CLIENT && !state.clients.has(UI_CLIENT);
  if (!isUi || user === null || !carriesUserRights(session, oauth.issuer(state))) throw notOfUi();
  return { session, user, state };
}

function notOfUi(): Problem {
  return new Problem('forbidden', 'Only the admin UI of the box may do this, in the name of its signed-in user');
}
