import { Problem } from '../problem.ts';
import type { ApiContext } from './api-context.ts';
import { bearerToken } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { Endpoint, PathParameters } from './endpoint.ts';
import { exchangeOf } from './exchange.ts';
import { queryOf } from './query.ts';
import { readResourceBody } from './resource-body.ts';
import { negotiate, render } from './resources/negotiate.ts';
import type { ResourceHandler } from './resources/resource-exchange.ts';
import { send } from './send.ts';

/** Answers are personal: no cache in between keeps them. */
const personal = { 'Cache-Control': 'private, no-store' };

/** The way of every request to a resource: token, policies, body, handler, answer in the format that was asked for. */
export function behindGate(context: ApiContext, resourceType: string, handler: ResourceHandler): Endpoint {
  return async (request, response, parameters) => {
    const exchange = exchangeOf(response);
    const { box, path, remoteAddr } = exchange;
    const query = queryOf(path);
    const token = bearerToken(request, query, box); //          RFC 6750 §2.1
    const body = await readResourceBody(request); //            RFC 9110 §6.4
    const id = idOf(parameters);
    const resource = { resourceType, ...(id === undefined ? {} : { id }) };
    const seen = (): unknown => (body() instanceof Problem ? undefined : body());
    const asked = { box, request, path, query, remoteAddr, resource, body: seen };
    const granted = await authorize(token, asked, context.oauth);
    exchange.client = granted.session?.client.id;
    exchange.policy = granted.policy;
    const parsed = body();
    if (parsed instanceof Problem) throw parsed;
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
    };
    const answer = await handler(addressed, context.oauth);
    const rendered = render(answer, format);
    send(response, { ...rendered, headers: { ...personal, ...rendered.headers } }, context.onAnswer);
  };
}

function idOf({ id }: PathParameters): string | undefined {
  return typeof id === 'string' ? id : undefined;
}
