import { claimEpoch } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';

const secret = 's'.repeat(32);

/** Declares a client of a box whose Namespace names a database, or none; returns the last line of the answer. */
export async function declareIn(api: TestApi, box: string, database?: string): Promise<unknown> {
  const epoch = await claimEpoch(api.managementUrl, api.managementKey, 'test');
  const owner = { name: `${box}/app`, uid: 'u' };
  const resource = { resourceType: 'Client', id: 'app', grant_types: ['client_credentials'], secret };
  const lines = [
    { cluster: 'test', epoch, complete: false, database },
    { kind: 'Client', id: 'app', owner, digest: 'd', resource },
  ];
  const response = await fetch(`${api.managementUrl}/boxes/${box}/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.managementKey}` },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  return JSON.parse((await response.text()).trim().split('\n').at(-1) ?? '');
}

/** Requests a token as that client. */
export function askToken(api: TestApi, box: string): Promise<Response> {
  return fetch(`${api.url}/boxes/${box}/auth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`app:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
}
