import { type Kind, KINDS } from '../../../crds/kind.ts';
import { declaredObject, type DeclaredObject, isHeld } from './declared-object.ts';
import { releaseObject } from './finalizers.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { KubeError, lacksRight, unlessMissing } from '../client/kube-error.ts';
import { forEachConcurrently, kindName, listOurs } from '../client/kube-object.ts';
import { list } from '../client/list.ts';
import { AppsV1Api } from '@kubernetes/client-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLeaseStore } from '../client/lease-store.ts';
import { look, mayTake, type Sight } from '../../leader/lease.ts';

/** Limit of the rounds: each finds objects that changed, or that a running operator holds again. */
const rounds = 5;
const pageSize = 500;

/** Result of {@link releaseAll}. */
export interface Released {
  /** Number of objects whose finalizer was removed. */
  readonly count: number;
  /** A sentence for each object that the API server refuses to change. */
  readonly refusals: readonly string[];
}

/**
 * Removes our finalizer from every object of the cluster, so that nothing waits for an operator that is no longer
 * there. An object that the API server refuses to change keeps it, and holds up no other. The rows stay. Throws
 * KubeError, and an Error of one sentence if finalizers come back.
 */
export async function releaseAll(api: KubeApi, signal: AbortSignal): Promise<Released> {
  const released = new Set<string>();
  const refusals = new Map<string, string>();
  for (let round = 0; round < rounds; round += 1) {
    const held = (await heldObjects(api, signal)).filter(({ uid }) => !refusals.has(uid));
    if (held.length === 0) return { count: released.size, refusals: [...refusals.values()] };
    await forEachConcurrently(held, async (object) => {
      const refusal = await release(api, object, signal);
      if (refusal === undefined) released.add(object.uid);
      else refusals.set(object.uid, refusal);
    });
  }
  throw new Error('finalizers come back: end every operator first (kubectl scale deployment --replicas=0)');
}

async function heldObjects(api: KubeApi, signal: AbortSignal): Promise<readonly DeclaredObject[]> {
  const held: DeclaredObject[] = [];
  for (const { kind } of Object.values(KINDS)) {
    held.push(...(await objectsOf(api, kind, signal)).filter(isHeld));
  }
  return held;
}

async function objectsOf(api: KubeApi, kind: Kind, signal: AbortSignal): Promise<readonly DeclaredObject[]> {
  const collection = listOurs(kind);
  const found = await unlessMissing(
    list(api, { collection, pageSize }, (value) => declaredObject(kind, value), signal),
  );
  // A kind that is not defined has no objects.
  return found?.objects ?? [];
}

/** Releases an object; returns a sentence if the API server refuses that. */
async function release(api: KubeApi, object: DeclaredObject, signal: AbortSignal): Promise<string | undefined> {
  try {
    await releaseObject(api, object, signal);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.code === 'invalid' || (error.code === 'forbidden' && !lacksRight(error))) return refusalOf(object, error);
    // It is gone, or a newer version of it exists, which the next round finds.
    if (error.code !== 'not-found' && error.code !== 'conflict') throw error;
  }
  return undefined;
}

/** Writes the sentence. The API server's own message is left out: it can repeat a value, which may be a secret. */
function refusalOf({ declared, namespace, name }: DeclaredObject, { status }: KubeError): string {
  const { kind } = declared;
  const { plural, group } = kindName(kind);
  const edit = `kubectl edit ${plural}.${group} ${name} --namespace ${namespace}`;
  return `${kind} ${namespace}/${name} keeps its finalizer: the API server refuses to change it (status ${status}). Correct it (${edit} tells what is wrong), then run this command again`;
}

/** Name of the operator's Deployment and of its Lease. */
const name = 'boxgate-operator';

/** Milliseconds between two looks at the Lease. */
const pause = 500;

/**
 * Scales the operator's Deployment to zero, and waits until nobody leads: the Lease is released, or was not renewed for
 * as long as it is valid. A Deployment that does not exist has ended. Throws KubeError.
 */
export async function endOperators(api: KubeApi, namespace: string, signal: AbortSignal): Promise<void> {
  const scale = { namespace, name, body: { spec: { replicas: 0 } } };
  const ended = api.call((make) => make(AppsV1Api).patchNamespacedDeploymentScale(scale), signal, { patch: 'merge' });
  await unlessMissing(ended);
  const store = createLeaseStore(api, { namespace, name, seconds: 0 }, () => new Date());
  const nobody = { identity: 'uninstall', pod: undefined, duration: 0 };
  let sight: Sight | undefined;
  for (;;) {
    const now = performance.now();
    sight = look(sight, await store.read(signal), now);
    if (mayTake(sight, nobody, now)) return;
    await sleep(pause, undefined, { signal });
  }
}
