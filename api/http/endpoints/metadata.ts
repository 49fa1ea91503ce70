import type { BoxState } from '../../state/box-state.ts';
import { keySet, serverMetadata } from '../../oauth/metadata.ts';
import { missingKeys } from '../../oauth/openid/missing-keys.ts';
import type { ApiContext } from '../server/api-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { nothingHere } from '../../nothing-here.ts';
import { sendJson } from '../server/send.ts';

const cacheable = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' };

/** `GET /.well-known/oauth-authorization-server` and `/.well-known/openid-configuration`, RFC 8414. */
export function metadataEndpoint(context: ApiContext): Endpoint {
  return async (_request, response) => {
    const document = await read(requestContextOf(response).box, context, (state) =>
      serverMetadata(context.oauth.issuer(state), state),
    );
    sendJson(response, document, context.onAnswer, cacheable);
  };
}

/** `GET /.well-known/jwks.json`, RFC 7517 §5; creates a missing key of the box, so that verifiers can start early. */
export function keySetEndpoint(context: ApiContext): Endpoint {
  return async (_request, response) => {
    const { box } = requestContextOf(response);
    const { keys, now } = context.oauth;
    const found = await read(box, context, (state) => ({ state, missing: missingKeys(state, now()) }));
    for (const needed of found.missing) await keys.upkeep(box, found.state.settings, now(), needed);
    sendJson(response, await read(box, context, keySet), context.onAnswer, cacheable);
  };
}

async function read<T>(box: string, context: ApiContext, work: (state: BoxState) => T): Promise<T> {
  const found = await context.oauth.states.decide(box, async (state) => work(state));
  if (found === undefined) throw nothingHere();
  return found;
}
