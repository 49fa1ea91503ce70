import type { BoxState } from '../../box/box-state.ts';
import { keySet, serverMetadata } from '../../oauth/metadata.ts';
import type { ApiContext } from '../server/api-context.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { nothingHere } from '../../problem.ts';
import type { SigningAlgorithm } from '../../box/key-ring.ts';
import type { MissingKey } from '../../oauth/keys/plan-keys.ts';
import { idTokenAlgorithm } from '../../oauth/openid/id-token.ts';
import { sendJson, send } from '../server/send.ts';
import { readFile } from 'node:fs/promises';

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

/** Issuer in the generated file, which is the same for every box (tools/openapi/document.yaml). */
const EXAMPLE_ISSUER = 'https://auth.example.com/boxes/shop';

/**
 * `GET /openapi.json`: the description of the endpoints of a box (OpenAPI 3.1), with the issuer of the box as its
 * server. All answers share the memory of the text around the issuer.
 */
export function openApiEndpoint(context: ApiContext): Endpoint {
  let aroundIssuer: Promise<readonly Buffer[]> | undefined;
  return async (_request, response) => {
    const { box } = requestContextOf(response);
    const { states, issuer } = context.oauth;
    const found = await states.decide(box, async (state) => issuer(state));
    if (found === undefined) throw nothingHere();
    // A failed attempt is not kept: the next request tries again.
    aroundIssuer ??= readAroundIssuer().catch((error: unknown) => {
      aroundIssuer = undefined;
      throw error;
    });
    const inText = Buffer.from(JSON.stringify(found).slice(1, -1));
    const body = (await aroundIssuer).flatMap((text, nth) => (nth === 0 ? [text] : [inText, text]));
    send(response, { status: 200, headers: cacheable, body }, context.onAnswer);
  };
}

/** Reads the generated file, which is read once: it belongs to the release. Returns its text around the issuer. */
async function readAroundIssuer(): Promise<readonly Buffer[]> {
  const value: unknown = JSON.parse(await readFile(new URL('./openapi.json', import.meta.url), 'utf8'));
  return JSON.stringify(value)
    .split(EXAMPLE_ISSUER)
    .map((text) => Buffer.from(text));
}
