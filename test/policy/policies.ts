import type { AccessPolicy } from '../../crds/access-policy.ts';
import { CompiledPolicy } from '../../api/policy/compile.ts';
import { requestObject } from '../../api/policy/request-object.ts';
import type { RequestObject, RequestParts } from '../../api/policy/request-object.ts';
import { Steps } from '../../api/policy/steps.ts';

/** A policy as it could stand in the table, whatever its fields: rows may be older than the rules for them. */
export function storedPolicy(fields: Readonly<Record<string, unknown>>): AccessPolicy {
  const body: unknown = { resourceType: 'AccessPolicy', id: 'p', ...fields };
  if (!isStored(body)) throw new TypeError('unreachable');
  return body;
}

function isStored(_body: unknown): _body is AccessPolicy {
  return true;
}

/** The same, compiled. */
export function compiled(fields: Readonly<Record<string, unknown>>): CompiledPolicy {
  return new CompiledPolicy(storedPolicy(fields));
}

/** Steps of one decision without a time limit, so that the same rule gives up on every machine. */
export function countedSteps(): Steps {
  return new Steps(undefined, () => ({ isOver: () => false }));
}

/** Steps of a decision whose time is over when the clock is read for the third time. */
export function briefSteps(): Steps {
  let readings = 0;
  return new Steps(undefined, () => ({ isOver: () => (readings += 1) >= 3 }));
}

/** A request of the client `reports` for its own resource, with whatever differs. */
export function sampleRequest(different: Partial<RequestParts> = {}): RequestObject {
  return requestObject({
    method: 'GET',
    uri: '/Client/reports',
    params: { page: '2' },
    headers: { host: 'boxgate.example', 'user-agent': 'curl/8.14.1' },
    remoteAddr: '192.0.2.7',
    box: 'shop',
    time: 1_750_000_100,
    resource: { resourceType: 'Client', id: 'reports' },
    client: { resourceType: 'Client', id: 'reports', grant_types: ['client_credentials'] },
    session: { id: '0199c0de-0000-7000-8000-000000000001', type: 'client_credentials', scope: 'read write' },
    token: { sub: 'reports', client_id: 'reports', iat: 1_750_000_000, exp: 1_750_003_600 },
    ...different,
  });
}
