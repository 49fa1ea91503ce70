import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadFailure } from '../caller/caller.ts';
import { install, system } from '../installation.ts';
import { kubectl, listObjects, nameOf, readObject, textAt, untilRolledOut } from '../kubectl.ts';
import { eventually } from '../../support/eventually.ts';
import { report, timed } from '../timed.ts';
import { createGround, notReady, type Ground } from './ground.ts';

describe('story 5: faults under load', () => {
  let ground: Ground;
  before(async () => {
    ground = await createGround('faults');
  });
  after(() => ground.remove());

  it('fails no request when a pod of the API is deleted', async () => {
    await ground.startLoad();
    await timed('a pod of the API is replaced', async () => {
      await kubectl('delete', `pod/${await podOf('api')}`, '--namespace', system);
      await untilRolledOut('deployment/boxgate-api', system);
    });
    expect(await ground.stopLoad('load while a pod of the API was deleted')).to.deep.equal([]);
  });

  it('only cuts the connections of a pod of the API that is killed', async () => {
    await ground.startLoad();
    await timed('a killed pod of the API is replaced', async () => {
      await kubectl('delete', `pod/${await podOf('api')}`, '--namespace', system, '--grace-period=0', '--force');
      await untilRolledOut('deployment/boxgate-api', system);
    });
    const failures = await ground.stopLoad('load while a pod of the API was killed');
    // A connection that ends with its process has no status: nothing that was answered may be wrong.
    expect(failures.filter(({ status }) => status !== 0)).to.deep.equal([]);
    expect(await notReady(ground.namespace)).to.deep.equal([]);
  });

  it('fails no request when the leading operator is killed, and another one leads', async () => {
    const leader = await leaderName();
    await ground.startLoad();
    await timed('another operator leads', async () => {
      await kubectl('delete', `pod/${leader}`, '--namespace', system, '--grace-period=0', '--force');
      await eventually('another operator leads', async () => ![leader, ''].includes(await leaderName()));
      await untilRolledOut('deployment/boxgate-operator', system);
    });
    expect(await ground.stopLoad('load while the leader was killed')).to.deep.equal([]);
    expect(await notReady(ground.namespace)).to.deep.equal([]);
  });

  it('answers 503 with Retry-After while Postgres is killed and restarts, and recovers by itself', async () => {
    const pods = await apiPods();
    await ground.startLoad();
    await timed('Postgres is killed and Ready again', async () => {
      await kubectl('delete', 'pod/boxgate-postgres-0', '--namespace', system, '--grace-period=0', '--force');
      await untilRolledOut('statefulset/boxgate-postgres', system);
      await untilRolledOut('deployment/boxgate-api', system);
    });
    const failures = await ground.stopLoad('load while Postgres was away');
    report('answers 503 with Retry-After', String(failures.filter(isAllowed).length));
    expect(failures.filter((failure) => !isAllowed(failure))).to.deep.equal([]);
    expect(await apiPods(), 'no API pod ends because Postgres is away').to.deep.equal(pods);
    await eventually('every status is Ready', async () => (await notReady(ground.namespace)).length === 0);
  });

  it('F-30 answers or says when to try again for ten minutes with a tenth of a processor and a heap of 128 MB', async () => {
    const heap = { name: 'NODE_OPTIONS', value: '--max-old-space-size=128' };
    await timed('API pods with few resources are Ready', async () => {
      await install({
        'api.resources.limits.cpu': '100m',
        'api.extraEnv[0].name': heap.name,
        'api.extraEnv[0].value': heap.value,
      });
    });
    const pods = await apiPods();
    await ground.startLoad();
    await sleep(minutes * 60_000);
    const failures = await ground.stopLoad(`load of ${String(minutes)} minutes on API pods with few resources`);
    report('answers 503 with Retry-After', String(failures.filter(isAllowed).length));
    expect(failures.filter((failure) => !isAllowed(failure))).to.deep.equal([]);
    expect(await apiPods(), 'no API pod ends for lack of resources').to.deep.equal(pods);
    expect(await notReady(ground.namespace)).to.deep.equal([]);
    await install();
  });
});

/** Minutes of the load with few resources. */
const minutes = Number(process.env['E2E_SCARCE_MINUTES'] ?? '10');

/** Checks whether a failure is one that the contract allows while Postgres is away. */
function isAllowed({ status, retryAfter }: LoadFailure): boolean {
  return status === 503 && retryAfter !== null;
}

async function podOf(component: string): Promise<string> {
  const [first] = (await podsOf(component)).toSorted();
  if (first === undefined) throw new Error(`no pod of ${component} runs`);
  return first;
}

async function podsOf(component: string): Promise<readonly string[]> {
  const pods = await listObjects('pods', { namespace: system });
  return pods
    .filter(
      (pod) =>
        textAt(pod, 'status', 'phase') === 'Running' && textAt(pod, 'metadata', 'deletionTimestamp') === undefined,
    )
    .map(nameOf)
    .filter((name) => name.startsWith(`boxgate-${component}-`));
}

/** Returns the pods of the API that are to stay, with the restarts of their containers. */
async function apiPods(): Promise<readonly string[]> {
  const staying = await podsOf('api');
  const columns = 'custom-columns=NAME:.metadata.name,RESTARTS:.status.containerStatuses[*].restartCount';
  const table = await kubectl('get', 'pods', '--namespace', system, '--no-headers', '--output', columns);
  return table
    .split('\n')
    .filter((line) => staying.some((name) => line.startsWith(name)))
    .sort();
}

/**
 * Returns the name of the pod that leads, from the Lease; '' if nobody does. Its holder begins with the uid of the pod.
 */
async function leaderName(): Promise<string> {
  const lease = await readObject({ object: 'lease/boxgate-operator', namespace: system });
  const holder = textAt(lease['spec'], 'holderIdentity') ?? '';
  const pods = await listObjects('pods', { namespace: system });
  return pods.filter((pod) => holder.startsWith(textAt(pod, 'metadata', 'uid') ?? 'no uid')).map(nameOf)[0] ?? '';
}
