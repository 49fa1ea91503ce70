import { readFile } from 'node:fs/promises';
import type { ApiContext } from '../server/api-context.ts';
import { nothingHere } from '../../nothing-here.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { requestContextOf } from '../request/request-context.ts';
import { send } from '../server/send.ts';

const cacheable = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' };

/** Issuer in the generated file, which is the same for every box (tools/openapi/examples.ts). */
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
    aroundIssuer ??= readAroundIssuer();
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
