import { exportedRows } from '../../db/resource/exported-rows.ts';
import type { ExportedRow } from '../../db/resource/exported-rows.ts';
import { inBox } from '../../db/core/transaction.ts';
import { Problem } from '../../problem.ts';
import { EXPORT_PATH } from './explained-request.ts';
import type { ResourceHandler } from './resource-exchange.ts';
import { readPolicyUse, recordedSince, readRequests } from '../../db/request/recorded-request.ts';
import type { RecordedRequest } from '../../db/request/recorded-request.ts';
import { readClientUse } from '../../db/session/client-usage.ts';
import { refuseParameters } from '../../records/search/parameters.ts';

/** `GET /AccessPolicy/$usage`: the last time that each policy granted a request. */
export const policyUsageHandler: ResourceHandler = async ({ box, query }, { pool }) => {
  refuseParameters(query);
  const { since, policies } = await inBox(pool, box, 'snapshot', async (connection) => ({
    since: await recordedSince(connection),
    policies: await readPolicyUse(connection, box),
  }));
  const shown = policies.map(({ id, createdAt, lastUsedAt }) => ({
    id,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
  }));
  return { status: 200, body: { recorded_since: since.toISOString(), policies: shown } };
};

/** `GET /Client/$usage`: who declares each client, and when it was last used. */
export const clientUsageHandler: ResourceHandler = async ({ box, query }, { pool }) => {
  refuseParameters(query);
  const found = await inBox(pool, box, 'snapshot', (connection) => readClientUse(connection, box));
  const clients = found.map(({ id, owner, lastTokenAt, previousUsedAt }) => ({
    id,
    managed_by: owner,
    last_token_at: lastTokenAt?.toISOString() ?? null,
    previous_secret_last_used: previousUsedAt?.toISOString() ?? null,
  }));
  return { status: 200, body: { clients } };
};

/** `GET /AccessPolicy/$requests`: the requests that callers were recently allowed or refused, the latest first. */
export const recordedRequestsHandler: ResourceHandler = async ({ box, query }, { pool }) => {
  refuseParameters(query);
  const found = await inBox(pool, box, 'snapshot', (connection) => readRequests(connection, box));
  return { status: 200, page: { bundle: undefined, items: shownRequests(found) } };
};

function* shownRequests(requests: readonly RecordedRequest[]): Generator<object> {
  for (const { client, principal, group, app, method, shape, policy, requests: count, ...seen } of requests) {
    yield {
      client,
      as: group === undefined ? principal : 'group',
      ...(group === undefined ? {} : { group }),
      ...(app === '' ? {} : { app }),
      method,
      path: shape,
      granted: policy !== '',
      policy: policy === '' ? null : policy,
      requests: count,
      first_seen_at: seen.firstSeenAt.toISOString(),
      last_seen_at: seen.lastSeenAt.toISOString(),
    };
  }
}

/** Rows of one page. */
const page = 500;

/**
 * `GET /$export`: the settings, groups, clients, policies and quotas of a box, each with the object that declares it;
 * by kind and id, a page at a time (RFC 8288). A client's secret is not shown, only whether there is one.
 */
export const exportHandler: ResourceHandler = async ({ box, baseUrl, query }, { pool }) => {
  const after = placeIn(query);
  const { rows, more } = await inBox(pool, box, 'snapshot', (connection) => exportedRows(connection, box, after, page));
  const last = rows.at(-1);
  const next = more && last !== undefined ? `${baseUrl}${EXPORT_PATH}?_after=${placeOf(last)}` : undefined;
  const headers = next === undefined ? {} : { Link: `<${next}>; rel="next"` };
  return { status: 200, headers, page: { bundle: undefined, items: shownRows(rows) } };
};

function placeOf({ kind, id }: ExportedRow): string {
  return encodeURIComponent(`${kind}/${id}`);
}

/** Returns the row after which the page begins. Throws Problem `bad-request`. */
function placeIn(query: URLSearchParams): Pick<ExportedRow, 'kind' | 'id'> {
  const unknown = [...query.keys()].find((name) => name !== '_after');
  if (unknown !== undefined) throw new Problem('bad-request', [{ path: unknown, message: 'is not a known parameter' }]);
  const [, kind, id] = /^([A-Za-z]+)\/(.+)$/s.exec(query.get('_after') ?? '') ?? [];
  if (kind !== undefined && id !== undefined) return { kind, id };
  if (!query.has('_after')) return { kind: '', id: '' };
  throw new Problem('bad-request', [{ path: '_after', message: 'must be the kind and id of a resource' }]);
}

function* shownRows(rows: readonly ExportedRow[]): Generator<object> {
  for (const { kind, id, body, hasSecret, object, retain, purge, firstAdmin } of rows) {
    yield {
      kind,
      id,
      ...(object === undefined ? {} : { object }),
      ...(retain ? { retain } : {}),
      ...(purge ? { purge } : {}),
      ...(kind === 'Client' ? { has_secret: hasSecret } : {}),
      ...(firstAdmin === undefined ? {} : { bootstrap_admin: { email: firstAdmin } }),
      resource: body,
    };
  }
}
