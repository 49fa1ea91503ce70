import { inBox } from '../../db/core/transaction.ts';
import { readPolicyUse, recordedSince, readRequests } from '../../db/request/recorded-request.ts';
import type { RecordedRequest } from '../../db/request/recorded-request.ts';
import { readClientUse } from '../../db/session/client-usage.ts';
import { refuseParameters } from '../../records/search/parameters.ts';
import type { ResourceHandler } from './resource-exchange.ts';

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
