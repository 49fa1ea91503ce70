import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { requestContextOf } from '../request/request-context.ts';
import { pageBox } from './page-box.ts';
import { sendOn } from './send.ts';

/** `GET /`: redirects the address of a box to its sign-in page. */
export function homeEndpoint(context: ApiContext): Endpoint {
  return async (_request, response) => {
    const box = await pageBox(context, requestContextOf(response).box);
    sendOn(response, `${box.issuer}/auth/signin`, context.onAnswer);
  };
}
