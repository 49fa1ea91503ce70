import type { Kind } from '../../../crds/kind.ts';
import { declaredObject, isHeld, type DeclaredObject } from './declared-object.ts';
import { releasePatch } from './finalizers.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError } from '../client/kube-error.ts';
import { forEachConcurrently } from '../client/concurrency.ts';
import { list } from '../client/list.ts';
import { kindName, pathOfKind } from '../client/live-read.ts';

/** Limit of the rounds: each finds objects that changed, or that a running operator holds again. */
const rounds = 5;
const pageSize = 500;

/**
 * Removes our finalizer from every object of the cluster, so that nothing waits for an operator that is no longer
 * there; returns how many had it. The rows stay. Throws KubeError, and an Error of one sentence if finalizers come
 * back.
 */
export async function releaseAll(api: KubeApi, signal: AbortSignal): Promise<number> {
  const released = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const held = await heldObjects(api, signal);
    if (held.length === 0) return released.size;
    for (const { uid } of held) released.add(uid);
    await forEachConcurrently(held, (object) => release(api, object, signal));
  }
  throw new Error('finalizers come back: end every operator first (kubectl scale deployment --replicas=0)');
}

async function heldObjects(api: KubeApi, signal: AbortSignal): Promise<readonly DeclaredObject[]> {
  const held: DeclaredObject[] = [];
  for (const kind of ['Client', 'AccessPolicy', 'Box'] as const) {
    held.push(...(await objectsOf(api, kind, signal)).filter(isHeld));
  }
  return held;
}

async function objectsOf(api: KubeApi, kind: Kind, signal: AbortSignal): Promise<readonly DeclaredObject[]> {
  try {
    const path = pathOfKind(kindName(kind));
    return (await list(api, path, (value) => declaredObject(kind, value), pageSize, signal)).objects;
  } catch (error) {
    // A kind that is not defined has no objects.
    if (error instanceof KubeError && error.code === 'not-found') return [];
    throw error;
  }
}

async function release(api: KubeApi, object: DeclaredObject, signal: AbortSignal): Promise<void> {
  try {
    await api.call(releasePatch(object), signal);
  } catch (error) {
    // It is gone, or a newer version of it exists, which the next round finds.
    if (!(error instanceof KubeError) || (error.code !== 'not-found' && error.code !== 'conflict')) throw error;
  }
}
