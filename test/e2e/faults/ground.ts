import { startCaller, type Caller, type LoadFailure } from '../caller/caller.ts';
import { listObjects, readObject, textAt, untilReady, valueAt } from '../kubectl.ts';
import { isList } from '../../../crds/path.ts';
import { createNamespace, declare, deleteNamespace } from '../namespace.ts';
import { report } from '../timed.ts';
import { boxUrl, secretEntries, tokenRequest } from '../token.ts';

/** A box with a client that may read sessions, and a pod that makes its requests. */
export interface Ground {
  readonly namespace: string;
  readonly caller: Caller;
  /** Starts a load of tokens and their use. */
  startLoad(): Promise<void>;
  /** Ends the load, prints its counts and returns the failures. */
  stopLoad(what: string): Promise<readonly LoadFailure[]>;
  /** Deletes the box. */
  remove(): Promise<void>;
}

/** Creates a box and starts its pod. */
export async function createGround(namespace: string): Promise<Ground> {
  await createNamespace(namespace);
  const link = [{ resourceType: 'Client', id: 'worker' }];
  await declare(namespace, [
    { kind: 'Box', name: 'box', spec: {} },
    { kind: 'Client', name: 'worker', spec: { grant_types: ['client_credentials'] } },
    { kind: 'AccessPolicy', name: 'worker', spec: { engine: 'allow', link } },
  ]);
  await untilReady('boxes,clients,accesspolicies', namespace);
  const caller = await startCaller({ namespace, name: 'caller' });
  const secret = secretEntries(await readObject({ object: 'secret/worker', namespace }));
  const token = tokenRequest(`${boxUrl(namespace)}/auth/token`, 'worker', secret['client_secret'] ?? '');
  return {
    namespace,
    caller,
    startLoad: () => caller.startLoad({ token, resource: `${boxUrl(namespace)}/Client/worker`, workers: 4, pause: 20 }),
    async stopLoad(what) {
      const { served, tokens, failures } = await caller.stopLoad();
      report(what, `${served} requests served, ${tokens} tokens issued, ${failures.length} failed`);
      for (const { step, status, why } of failures.slice(0, 3)) report(`  failed: ${step}`, `${status} ${why}`);
      return failures;
    },
    async remove() {
      await caller.close();
      await deleteNamespace(namespace);
    },
  };
}

/** Returns the objects of a box that are not Ready. */
export async function notReady(namespace: string): Promise<readonly string[]> {
  const objects = await listObjects('boxes,clients,accesspolicies', { namespace });
  return objects.flatMap((object) => {
    const conditions = valueAt(object, 'status', 'conditions');
    const ready = isList(conditions) ? conditions.find((one) => textAt(one, 'type') === 'Ready') : undefined;
    return textAt(ready, 'status') === 'True' ? [] : [JSON.stringify([textAt(object, 'metadata', 'name'), ready])];
  });
}
