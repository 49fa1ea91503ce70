import { generateKeyPairSync, hash } from 'node:crypto';
import type { Kind } from '../../crds/kind.ts';
import { objectKey, type Declared } from '../../operator/desired/declared.ts';
import type { Desired } from '../../operator/desired/desired.ts';
import { validate } from '../../operator/desired/validate.ts';
import type { ResolvedSecret } from '../../operator/secrets/resolve.ts';

/** An object as a source lists it; fields beside the spec may be given. */
export function declared(
  kind: Kind,
  name: string,
  spec: Readonly<Record<string, unknown>>,
  fields: Partial<Declared> = {},
): Declared {
  const namespace = fields.namespace ?? 'default';
  const body = { apiVersion: 'boxgate.dev/v1', kind, metadata: { name, namespace }, spec };
  return {
    key: objectKey({ kind, name }),
    kind,
    namespace,
    name,
    uid: `uid-${name}`,
    created: '',
    generation: 1,
    resourceVersion: '1',
    body: () => body,
    place: `${name}.yaml:1`,
    ...fields,
  };
}

/** A client with the client credentials grant; whatever else its spec has. */
export function machineClient(name: string, spec: Readonly<Record<string, unknown>> = {}): Declared {
  return declared('Client', name, { grant_types: ['client_credentials'], ...spec });
}

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });

/** Spec of a client that signs in with a key: of many of them no secret has to be hashed. */
export const keyClient = { grant_types: ['client_credentials'], jwks: { keys: [{ ...key, alg: 'ES256' }] } };

/** A policy that allows these clients. */
export function allowPolicy(name: string, ...clients: readonly string[]): Declared {
  const link = clients.map((id) => ({ resourceType: 'Client', id }));
  return declared('AccessPolicy', name, { engine: 'allow', link });
}

/** An object with what decides what becomes of its row. */
export function desired(object: Declared, fields: Partial<Desired> = {}): Desired {
  const secret: ResolvedSecret = { state: 'none' };
  return {
    object,
    validated: validate(object),
    secret,
    loses: undefined,
    digest: `digest-of-${object.name}`,
    ...fields,
  };
}

/** The object as it is after an edit of its spec, or of nothing; its version tells one content from another. */
export function edited(object: Declared, spec?: Readonly<Record<string, unknown>>): Declared {
  const { kind, name, generation } = object;
  const body = spec === undefined ? object.body : declared(kind, name, spec).body;
  const resourceVersion = hash('sha256', JSON.stringify(body()));
  return { ...object, body, resourceVersion, generation: generation + 1 };
}
