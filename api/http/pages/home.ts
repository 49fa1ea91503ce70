import type { IncomingMessage, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { frontPage } from '../../pages/front-page.ts';
import { chooseLanguage } from '../../pages/page.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import type { ApiContext } from '../server/api-context.ts';
import { send } from '../server/send.ts';
import { pageBox } from './page-request.ts';
import { pageAnswer, sendOn } from './send.ts';

/** `GET /`: redirects the address of a box to its sign-in page. */
export function homeEndpoint(context: ApiContext): Endpoint {
  return async (_request, response) => {
    const box = await pageBox(context, requestContextOf(response).box);
    sendOn(response, `${box.issuer}/auth/signin`, context.onAnswer);
  };
}

/** Checks whether a browser asks for the root of an installation, where no box is. Programs get an error there. */
export function isAtFront(request: IncomingMessage, response: ServerResponse): boolean {
  const { box, target } = requestContextOf(response);
  if (box !== '' || target !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  return new Negotiator(request).mediaType(['application/json', 'text/html']) === 'text/html';
}

/**
 * The page at the root of an installation. It names the boxes of `boxgate dev` alone: strangers do not learn who the
 * tenants of an installation are.
 */
export function frontEndpoint({ addressing, onAnswer }: ApiContext): Endpoint {
  return async (request, response) => {
    const page = frontPage(chooseLanguage(request.headers['accept-language']), await addressing.rootBoxes());
    send(response, pageAnswer(page), onAnswer);
  };
}
