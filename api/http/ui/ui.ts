import { chooseLanguage } from '../../pages/page.ts';
import { uiPage, uiPolicy } from '../../pages/ui-page.ts';
import { nothingHere } from '../../problem.ts';
import { pageBox } from '../pages/page-request.ts';
import { sendOn } from '../pages/send.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { send } from '../server/send.ts';
import Negotiator from 'negotiator';

const offered = ['br', 'gzip', 'identity'] as const;

/** A form in which a file is sent. */
type Encoding = (typeof offered)[number];

/** Returns the content coding for an Accept-Encoding header (RFC 9110 §12.5.3); `identity` if none is accepted. */
function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined) return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([...offered]);
  return offered.find((one) => accepted.includes(one)) ?? 'identity';
}

/** `GET /ui`: redirects to the address that the files of the UI are relative to. */
export function uiHomeEndpoint(context: ApiContext): Endpoint {
  return async (_request, response) => {
    const { issuer } = await pageBox(context, requestContextOf(response).box);
    sendOn(response, `${issuer}/ui/`, context.onAnswer);
  };
}

/** `GET /ui/`: the page of the admin UI, without data: its script signs in and calls the API like every caller. */
export function uiPageEndpoint(context: ApiContext): Endpoint {
  return async (request, response) => {
    const { box } = requestContextOf(response);
    const { issuer, look } = await pageBox(context, box);
    // Not at the same time: in a checkout the first bundling holds the event loop, as if Postgres did not answer.
    const { script, style } = await context.uiFiles();
    const language = chooseLanguage(request.headers['accept-language']);
    const { name, color } = look;
    const body = uiPage({ language, box, name, color, issuer, folder: context.oauth.folder, script, style });
    const headers = { 'Content-Language': language, 'X-Frame-Options': 'DENY' };
    const answer = { status: 200, headers, contentType: 'text/html; charset=utf-8', body, policy: uiPolicy(color) };
    send(response, answer, context.onAnswer);
  };
}

/** The name of a file has a hash of its content, so a file never changes (RFC 8246). */
const forever = 'public, max-age=31536000, immutable';

/** `GET /ui/<file>`: the script and the style, compressed if the browser accepts that (RFC 9110 §12.5.3). */
export function uiFileEndpoint(context: ApiContext): Endpoint {
  return async (request, response, { file: name }) => {
    const { files } = await context.uiFiles();
    const file = typeof name === 'string' ? files.get(name) : undefined;
    if (file === undefined) throw nothingHere();
    const encoding = chooseEncoding(request.headers['accept-encoding']);
    const headers = {
      'Cache-Control': forever,
      Vary: 'Accept-Encoding',
      ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
    };
    const body = [encoding === 'identity' ? file.plain : file[encoding]];
    send(response, { status: 200, headers, contentType: file.contentType, body }, context.onAnswer);
  };
}
