import { Problem } from '../problem.ts';
import type { ApiContext } from './api-context.ts';
import type { OAuthServices } from '../oauth/services.ts';
import { InvalidUser } from '../users/invalid-user.ts';
import { bearerToken, queryOrBearerToken } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { Endpoint, PathParameters } from './endpoint.ts';
import { exchangeOf } from './exchange.ts';
import { guessing } from './guessing.ts';
import type { Guess } from './guessing.ts';
import { queryOf } from './query.ts';
import { readResourceBody } from './resource-body.ts';
import { negotiate, render } from './resources/negotiate.ts';
import type { ResourceAnswer, ResourceExchange } from './resources/resource-exchange.ts';
import { send } from './send.ts';

/** Answers are personal: no cache in between keeps them. */
const personal = { 'Cache-Control': 'private, no-store' };

type Handler = (exchange: ResourceExchange, services: OAuthServices) => Promise<ResourceAnswer>;

/**
 * The way of every request to a resource: token, policies, body, handler, answer in the format that was asked for. To users
 * the token may come in the query, and a body that cannot be read is told in their way (interface §4.5, §7).
 */
export function behindGate(context: ApiContext, resourceType: string, handler: Handler): Endpoint {
  const isUsers = resourceType === 'User';
  return async (request, response, parameters) => {
    const exchange = exchangeOf(response);
    const { box, path, remoteAddr } = exchange;
    const query = queryOf(path);
    const { token, isInQuery } = isUsers //                     RFC 6750 §2.1, §2.3
      ? queryOrBearerToken(request, query, box)
      : { token: bearerToken(request, query, box), isInQuery: false };
    const body = await readResourceBody(request); //            RFC 9110 §6.4
    const id = idOf(parameters);
    const resource = { resourceType, ...(id === undefined ? {} : { id }) };
    const seen = (): unknown => (body() instanceof Problem ? undefined : body());
    const asked = { box, request, path, query, remoteAddr, resource, body: seen, tokenIsInQuery: isInQuery };
    const granted = await authorize(token, asked, context.oauth);
    exchange.client = granted.session?.client.id;
    exchange.policy = granted.policy;
    const parsed = body();
    if (parsed instanceof Problem)
      throw isUsers && parsed.code === 'invalid' ? new InvalidUser(parsed.faults, {}) : parsed;
    const format = negotiate(request.headers.accept); //        RFC 9110 §12.5.1
    const addressed = {
      box,
      id,
      query,
      body: parsed,
      contentType: request.headers['content-type'],
      ifMatch: request.headers['if-match'],
      ifNoneMatch: request.headers['if-none-match'],
      baseUrl: granted.issuer,
      settings: granted.settings,
      guessPassword: (email: string, verify: () => Promise<boolean>) =>
        isGuessed(context, { box, email, address: remoteAddr }, verify),
    };
    const answer = await handler(addressed, context.oauth);
    const rendered = render(answer, format);
    send(response, { ...rendered, headers: { ...personal, ...rendered.headers } }, context.onAnswer);
  };
}

async function isGuessed({ throttle }: ApiContext, guess: Guess, verify: () => Promise<boolean>): Promise<boolean> {
  const right = await guessing(throttle, guess, async () => ((await verify()) ? true : undefined));
  return right === true;
}

function idOf({ id }: PathParameters): string | undefined {
  return typeof id === 'string' ? id : undefined;
}
