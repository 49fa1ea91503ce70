import type { Kind } from '../../crds/kind.ts';
import { objectKey, type Declared } from '../../operator/declared.ts';
import type { Desired } from '../../operator/desired.ts';
import { judge } from '../../operator/judge.ts';
import type { ResolvedSecret } from '../../operator/resolve-secret.ts';

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
    judged: judge(object),
    secret,
    loses: undefined,
    digest: `digest-of-${object.name}`,
    ...fields,
  };
}
