import { generateKeyPairSync } from 'node:crypto';
import { API_GROUP } from '../../../crds/kind.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';

/** The kinds that are made in numbers, by their plural names. */
export type Plural = 'clients' | 'accesspolicies';

const kinds = { clients: 'Client', accesspolicies: 'AccessPolicy' } as const satisfies Record<Plural, string>;

/** Returns the API path of a kind's objects, in one namespace or in all. */
export function pathOf(plural: Plural, box?: string, group: string = API_GROUP): string {
  return box === undefined ? `/apis/${group}/v1/${plural}` : `/apis/${group}/v1/namespaces/${box}/${plural}`;
}

/** Makes an object as an admin does; resolves when the API server has taken it, and throws what it says against it. */
export async function create(
  plane: ControlPlane,
  plural: Plural,
  box: string,
  name: string,
  spec: object,
  group: string = API_GROUP,
): Promise<void> {
  const body = { apiVersion: `${group}/v1`, kind: kinds[plural], metadata: { name }, spec };
  await demand(plane, 201, { method: 'POST', path: pathOf(plural, box, group), body });
}

/** A call that must be answered with a status; the body of the answer. */
export async function demand(
  plane: ControlPlane,
  status: number,
  call: Parameters<ControlPlane['call']>[0],
): Promise<unknown> {
  const answer = await plane.call(call);
  if (answer.status !== status) throw new Error(`${call.path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** The name of the nth object. */
export function nameOf(nth: number, prefix = 'service'): string {
  return `${prefix}-${String(nth).padStart(5, '0')}`;
}

const machine = {
  grant_types: ['client_credentials'],
  auth: { client_credentials: { access_token_expiration: 3600 } },
};

/** A machine whose secret the operator makes. */
export const generated = { ...machine, description: 'A service of the bench' };

const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });

/** A machine that signs in with a key: there is no secret. */
export const withKeys = {
  ...machine,
  description: 'A service of the bench',
  jwks: { keys: [{ ...publicKey, kid: 'bench', use: 'sig', alg: 'ES256' }] },
};

/** A machine whose secret somebody chose; it is in a Secret of this name. */
export function withSecretRef(name: string): object {
  return { ...machine, secretRef: { name, key: 'password' } };
}

/** A policy that allows one client everything. */
export function policyFor(client: string): object {
  return { engine: 'allow', link: [{ resourceType: 'Client', id: client }] };
}

/** Makes a Secret that clients may refer to. */
export async function createChosenSecret(plane: ControlPlane, box: string, name: string): Promise<void> {
  const body = {
    metadata: { name, labels: { 'boxgate.dev/client-secret': 'true' } },
    stringData: { password: `chosen by somebody for ${name}` },
  };
  await demand(plane, 201, { method: 'POST', path: `/api/v1/namespaces/${box}/secrets`, body });
}
