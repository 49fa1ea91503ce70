import type { BoxState } from '../../state/box-state.ts';
import { keySet, serverMetadata } from '../../oauth/metadata.ts';
import { missingKeys } from '../../oauth/openid/missing-keys.ts';
import type { ApiContext } from '../server/api-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { nothingHere } from '../../nothing-here.ts';
import { sendJson } from '../server/send.ts';

const cacheable = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' };

/**
 * `GET /.well-known/oauth-authorization-server` and `/.well-known/openid-configuration`, RFC 8414. The algorithms are
 * those of the keys in the key set.
 */
export function metadataEndpoint(context: ApiContext): Endpoint {
  return async (_request, response) => {
    const document = await readWithKeys(requestContextOf(response).box, context, (state) =>
      serverMetadata(context.oauth.issuer(state), state),
    );
    sendJson(response, document, context.onAnswer, cacheable);
  };
}

/** `GET /.well-known/jwks.json`, RFC 7517 §5. */
export function keySetEndpoint(context: ApiContext): Endpoint {
  return async (_request, response) => {
    const document = await readWithKeys(requestContextOf(response).box, context, keySet);
    sendJson(response, document, context.onAnswer, cacheable);
  };
}

/** Reads from the state of a box once it has its keys: a missing one is created, so that verifiers can start early. */
async function readWithKeys<T>(box: string, context: ApiContext, work: (state: BoxState) => T): Promise<T> {
  const { keys, now } = context.oauth;
  const found = await read(box, context, (state) => ({ state, missing: missingKeys(state, now()) }));
  if (found.missing.length === 0) return work(found.state);
  for (const needed of found.missing) await keys.upkeep(box, found.state.settings, now(), needed);
  return read(box, context, work);
}

async function read<T>(box: string, context: ApiContext, work: (state: BoxState) => T): Promise<T> {
  const found = await context.oauth.states.decide(box, async (state) => work(state));
  if (found === undefined) throw nothingHere();
  return found;
}
