import type { Random } from '../../support/random.ts';
import { sendRequest } from '../raw-http.ts';
import type { BoxApi } from '../resources/box-api.ts';
import type { MadeRequest } from './random-request.ts';

/** Makes the `request` of a question about a request, in one of the forms that it may have. */
export function questionRequest(random: Random, request: MadeRequest): object {
  const { method, path, query, teams, contentType, body } = request;
  const isInUri = random.below(2) === 0;
  const team = teams.length === 1 && random.below(2) === 0 ? teams[0] : teams;
  return {
    'request-method': random.below(2) === 0 ? method : method.toLowerCase(),
    uri: isInUri ? `${path}${queryText(query)}` : path,
    ...(!isInUri && { params: valuesByName(query) }),
    headers: {
      Host: 'boxgate.test',
      Authorization: 'Bearer x',
      ...(teams.length > 0 && { 'X-Team': team }),
      ...(contentType !== undefined && { 'Content-Type': contentType }),
    },
    'remote-addr': '127.0.0.1',
    ...(body !== undefined && { body }),
  };
}

/** Returns the values of each name as a list. */
function valuesByName(query: MadeRequest['query']): object {
  const byName = Map.groupBy(query, ([name]) => name);
  return Object.fromEntries(Array.from(byName, ([name, pairs]) => [name, pairs.map(([, value]) => value)]));
}

export function queryText(query: MadeRequest['query']): string {
  const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  return text === '' ? '' : `?${text}`;
}

/** Makes the request; its status and its ID. */
export async function realRequest(api: BoxApi, request: MadeRequest, token: string | undefined) {
  const { method, path, query, teams, contentType, body } = request;
  const headers: [string, string][] = [
    ['Host', 'boxgate.test'],
    ...teams.map((team): [string, string] => ['X-Team', team]),
  ];
  if (token !== undefined) headers.push(['Authorization', `Bearer ${token}`]);
  if (contentType !== undefined) headers.push(['Content-Type', contentType]);
  const target = `/boxes/default${path}${queryText(query)}`;
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const reply = await sendRequest(api.url, { method, target, headers, ...text });
  return { status: reply.status, id: reply.headers.get('x-request-id') ?? '' };
}
