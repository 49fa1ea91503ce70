import { Problem } from '../../problem.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { StoredUser } from '../../db/user.ts';
import type { Needs } from '../../policy/needs.ts';
import { confirming, untilConfirmed } from '../../records/write/conditions.ts';
import type { BoxState } from '../../box/box-state.ts';
import type { Sharer } from '../../shares/fair-queue.ts';
import { InvalidUser } from '../../records/user-document.ts';
import { bearerToken, queryOrBearerToken } from '../access/authenticate.ts';
import { authorize, mayList } from '../access/authorize.ts';
import type { RestOfRequest } from '../access/authorize.ts';
import { decideWithBody, resourceBody } from '../formats/resource-body.ts';
import { partOfPath, refusing, requestContextOf, originOf } from '../request/request-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { guessOverRest } from '../throttle/password-guess.ts';
import { hashSharer, servicesOf } from '../throttle/hash-sharer.ts';
import type { RequestServices } from '../throttle/hash-sharer.ts';
import { queryOf } from '../request/query.ts';
import type { ResourceBody } from '../formats/resource-body.ts';
import { negotiate, renderAnswer, versionTags } from '../formats/negotiate.ts';
import type { Format } from '../formats/negotiate.ts';
import type { RequestedWrite } from './requested-changes.ts';
import type { AddressedType, LongWork, ResourceAnswer, ResourceExchange } from './resource-exchange.ts';
import { personal, send } from '../server/send.ts';

const policies = { path: '/AccessPolicy', kind: 'AccessPolicy' } as const;

type Handler = (exchange: ResourceExchange, services: RequestServices) => Promise<ResourceAnswer>;

/** Returns the names of the fields that a request would change of the record that it addresses. */
type ReadChanges = (write: RequestedWrite) => Promise<readonly string[]>;

/**
 * Handles every request to a resource: token, policies, body, handler, answer in the requested format. For users
 * the token may be in the query, and an unreadable body is reported in their form. `readChanges` is for routes that
 * write a record.
 */
export function withAuthorization(
  context: ApiContext,
  resourceType: AddressedType,
  handler: Handler,
  readChanges?: ReadChanges,
): Endpoint {
  const isUsers = resourceType === 'User';
  return async (request, response, parameters) => {
    const requestContext = requestContextOf(response);
    const { box, path, network, remoteAddr, requestId } = requestContext;
    const query = queryOf(path);
    const { token, isInQuery } = isUsers //                     RFC 6750 §2.1, §2.3
      ? queryOrBearerToken(request, query, box)
      : { token: bearerToken(request, query, box), isInQuery: false };
    const id = partOfPath(parameters, 'id');
    const resource = { resourceType, ...(id === undefined ? {} : { id }) };
    const body = resourceBody(request); //                      RFC 9110 §6.4
    const { method, headers } = request;
    const contentType = headers['content-type'];
    const isRead = method === 'GET' || method === 'HEAD';
    const readRest = body && ((needs: Needs) => readRestOf({ box, id, method, contentType }, body, needs, readChanges));
    const asked = { box, request, path, query, remoteAddr, requestId, resource, readRest, tokenIsInQuery: isInQuery };
    const answer = await untilConfirmed(async () => {
      const granted = await decideWithBody(request, body, () => authorize(token, asked, context.oauth));
      requestContext.client = granted.session?.client.id;
      requestContext.policy = granted.policy;
      const parsed = await body?.read();
      if (parsed instanceof Problem)
        throw isUsers && parsed.code === 'invalid' ? new InvalidUser(parsed.faults, {}) : parsed;
      const format = negotiate(headers.accept); //              RFC 9110 §12.5.1
      const sharerOfTime = { box, member: requestContext.client ?? network };
      const long: LongWork = (work) => context.longWork.run(sharerOfTime, work);
      const addressed = {
        box,
        id,
        method,
        user: granted.session?.user?.id,
        query,
        body: parsed,
        contentType,
        ifMatch: versionTags(headers['if-match'], isRead, format),
        ifNoneMatch: versionTags(headers['if-none-match'], isRead, format),
        baseUrl: granted.issuer,
        settings: granted.settings,
        mayReadPolicies: (state: BoxState) => mayList({ ...asked, ...policies }, granted.session, state, context.oauth),
        long,
        confirmChanges: confirming(granted.changes),
        guessPassword: (user: StoredUser, verify: (sharer: Sharer) => Promise<boolean>) =>
          guessOverRest(
            context,
            { box, address: remoteAddr, onRefused: refusing(requestContext), by: granted.session?.user?.id },
            user,
            verify,
          ),
      };
      const sharer = hashSharer(context.throttle, box, remoteAddr);
      const services = servicesOf(context.oauth, sharer, originOf(requestContext, granted.session));
      const answering = async () => renderAnswer(await handler(addressed, services), format);
      return isRead && isLongPage(query, id, format) ? long(answering) : answering();
    });
    send(response, { ...answer, headers: { ...personal, ...answer.headers } }, context.onAnswer);
  };
}

/** Records of a page that is long: a thousand take 10 ms of Postgres, and 25 to 50 ms of the event loop. */
const longFrom = 101;

/** Checks whether a read may take long. */
function isLongPage(query: URLSearchParams, id: string | undefined, format: Format): boolean {
  return Number(query.get('_count')) >= longFrom || (id === undefined && format !== 'application/json');
}

async function readRestOf(
  write: Omit<RequestedWrite, 'body'>,
  body: ResourceBody,
  needs: Needs,
  readChanges: ReadChanges | undefined,
): Promise<RestOfRequest> {
  const parsed = await body.read();
  if (needs !== 'changes' || readChanges === undefined) return { body: withoutProblem(parsed) };
  // An unreadable body changes nothing, whoever may send it.
  if (parsed instanceof Problem) return { changes: [] };
  return { body: parsed, changes: await readChanges({ ...write, body: parsed }) };
}

function withoutProblem(body: unknown): unknown {
  return body instanceof Problem ? undefined : body;
}
