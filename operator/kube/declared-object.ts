import { isRecord } from '../../crds/schema-node.ts';
import { API_VERSION, type Kind } from '../../crds/kind.ts';
import { objectKey, type Declared } from '../declared.ts';
import type { Kept, Novelty } from './object-store.ts';

/** What holds the deletion of an object until nobody can use what it declared. */
export const FINALIZER = 'boxgate.dev/finalizer';

/** What is kept of a custom resource of ours. */
export interface DeclaredObject extends Kept {
  readonly declared: Declared;
  /** Its deletion was asked for, and somebody's finalizer holds it. */
  readonly isGoing: boolean;
  /** Everybody's. */
  readonly finalizers: readonly string[];
  /** The status as it is in the cluster, as JSON: small, and rarely read. */
  readonly status: string;
}

/**
 * Nothing is new that changes neither the spec nor whether the object is there: not a status, not an annotation. That our
 * finalizer was taken away from one that stays is.
 */
export const novelty: Novelty<DeclaredObject> = {
  isSame: (known, next) =>
    known.declared.generation === next.declared.generation &&
    known.isGoing === next.isGoing &&
    (next.isGoing || !isHeld(known) || isHeld(next)),
  carry: (known, next) => ({ ...next, declared: known.declared }),
};

/** Whether an object has our finalizer. */
export function isHeld({ finalizers }: DeclaredObject): boolean {
  return finalizers.includes(FINALIZER);
}

/** Keeps of a custom resource what the operator reads; undefined for what is none. */
export function declaredObject(kind: Kind, value: unknown): DeclaredObject | undefined {
  const { metadata, spec, status } = isRecord(value) ? value : {};
  if (!isRecord(metadata)) return undefined;
  const { namespace, name, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, finalizers } =
    metadata;
  if (typeof namespace !== 'string' || typeof name !== 'string') return undefined;
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string') return undefined;
  const text = JSON.stringify({ apiVersion: API_VERSION, kind, metadata: { name, namespace, uid }, spec });
  const numbered = typeof generation === 'number' ? generation : 0;
  const body = (): unknown => JSON.parse(text);
  const declared: Declared = {
    key: objectKey({ kind, name }),
    kind,
    namespace,
    name,
    uid,
    created: typeof creationTimestamp === 'string' ? creationTimestamp : '',
    generation: numbered,
    // We read nothing but the spec, and that has a number of its own.
    resourceVersion: String(numbered),
    body,
    place: '',
  };
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    declared,
    isGoing: typeof deletionTimestamp === 'string',
    finalizers: finalizersOf(finalizers),
    status: JSON.stringify(status ?? {}),
  };
}

/** Shared: nearly every object has one of these. */
const none: readonly string[] = [];
const ours: readonly string[] = [FINALIZER];

function finalizersOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) return none;
  const names = value.filter((one) => typeof one === 'string');
  return names.length === 1 && names[0] === FINALIZER ? ours : names;
}
