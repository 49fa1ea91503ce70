import type { BoxState } from '../../state/box-state.ts';
import { keySet, serverMetadata } from '../../oauth/metadata.ts';
import type { ApiContext } from '../server/api-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { nothingHere } from '../../nothing-here.ts';
import { sendJson } from '../server/send.ts';
import type { SigningAlgorithm } from '../../state/key-ring.ts';
import type { MissingKey } from '../../oauth/keys/key-needed.ts';
import { idTokenAlgorithm } from '../../oauth/openid/id-token.ts';

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

/**
 * Returns the keys that a box may need for signing and does not have: one of its own algorithm, if it has no key at
 * all, and one for the id_tokens of each client that users sign in to. `now` in milliseconds.
 */
function missingKeys(state: Pick<BoxState, 'keys' | 'clients' | 'settings'>, now: number): readonly MissingKey[] {
  const wanted = new Set<SigningAlgorithm>();
  if (state.keys.all.length === 0) wanted.add(state.settings.signing?.algorithm ?? 'ES256');
  for (const { client } of state.clients.values()) {
    const signsIn = client.grant_types.some((grant) => grant === 'authorization_code' || grant === 'implicit');
    if (signsIn && client.active !== false) wanted.add(idTokenAlgorithm(client));
  }
  const missing = [...wanted].filter((algorithm) => state.keys.signing(algorithm, now) === undefined);
  return missing.map((algorithm) => ({ algorithm, until: Math.floor(now / 1000) }));
}
