import { isObject } from '../../crds/path.ts';
import type { TestApi } from '../support/api.ts';
import { clientToken } from '../support/client-token.ts';

/** A call of the administrator of a box to an address below its base URL; throws unless it succeeds. */
export type AdminCall = (method: string, address: string, body: object) => Promise<Record<string, unknown>>;

const secret = 'a secret of the administrator';

/** Declares a client that may do everything in the box `default`, and returns its calls to the API at an issuer. */
export async function declareAdmin(api: TestApi, issuer: string): Promise<AdminCall> {
  const link = [{ resourceType: 'Client', id: 'admin' }];
  await api.declare('default', [
    { kind: 'Client', id: 'admin', grant_types: ['client_credentials'], secret },
    { kind: 'AccessPolicy', id: 'admin', engine: 'allow', link },
  ]);
  const token = await clientToken(issuer, 'admin', secret);
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return (method, address, body) => call(issuer + address, { method, headers, body: JSON.stringify(body) });
}

async function call(address: string, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(address, init);
  const answer: unknown = await response.json();
  if (response.ok && isObject(answer)) return answer;
  throw new Error(`${address} is answered with ${String(response.status)}: ${JSON.stringify(answer)}`);
}
