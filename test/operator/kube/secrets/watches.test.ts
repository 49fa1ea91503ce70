import { expect } from 'chai';
import { PassThrough } from 'node:stream';
import type { KubeApi } from '../../../../operator/kube/client/kube-api.ts';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';
import { defaultTimes } from '../../../../operator/kube/client/list-watch.ts';
import { boxSecrets, createClusterSecrets } from '../../../../operator/kube/secrets/cluster-secrets.ts';
import { eventually } from '../../../support/eventually.ts';
import { recordedEvents } from '../../status/recorded-events.ts';
import { answeredCalls } from '../recorded-calls.ts';
import { label } from './secret-things.ts';

describe('the watched Secrets of a namespace', () => {
  let stopping: AbortController;
  let changes: string[];
  let refusals: number;
  let lists: number;
  let mayWatch: boolean;
  /** Body of the watch. */
  let events: PassThrough;
  /** True if the Secret can be read by its name. */
  let isThere: boolean;
  beforeEach(() => {
    [stopping, changes, refusals, lists, mayWatch] = [new AbortController(), [], 0, 0, true];
    [events, isThere] = [new PassThrough(), false];
  });
  afterEach(() => {
    stopping.abort();
    events.end();
  });

  const secret = (resourceVersion: string): object => ({
    metadata: { namespace: 'shop', name: 'chosen', uid: 'u-1', resourceVersion, labels: label },
    type: 'Opaque',
    data: { password: 'eA==' },
  });
  const happen = (type: string, resourceVersion: string): void =>
    void events.write(`${JSON.stringify({ type, object: secret(resourceVersion) })}\n`);

  function secretsOfCluster() {
    const answered = answeredCalls(async ({ path }) => {
      if (path.endsWith('/chosen')) {
        if (isThere) return secret('1');
        throw new KubeError('not-found', 'secrets "chosen" not found');
      }
      lists += 1;
      return { kind: 'SecretList', metadata: { resourceVersion: '1' }, items: [] };
    });
    const api: KubeApi = {
      ...answered,
      async stream() {
        if (mayWatch) return events;
        refusals += 1;
        throw new KubeError('forbidden', 'secrets is forbidden');
      },
    };
    const options = {
      api,
      times: defaultTimes,
      random: () => 0.5,
      now: () => performance.now(),
      sleep: () => new Promise<void>((resolve) => setImmediate(resolve)),
      onFailure: () => undefined,
    };
    const { secrets } = createClusterSecrets(options, 'boxgate-system:boxgate', recordedEvents());
    secrets.watches.begin((namespace) => changes.push(namespace), stopping.signal);
    return secrets;
  }

  it('is forbidden, and told of once, while the operator may list but not watch it; then it is known', async () => {
    mayWatch = false;
    const { watches } = secretsOfCluster();
    await watches.look('shop', stopping.signal);
    await eventually('it was refused often', () => refusals > 5);
    expect([watches.known('shop')?.state, changes.length, lists]).to.deep.equal(['forbidden', 1, 1]);
    mayWatch = true;
    await eventually('it is known', () => watches.known('shop')?.state === 'known');
    expect([changes.length, lists]).to.deep.equal([2, 1]);
  });

  it('tells a Secret that lost its label from a missing one, also soon after it was missing', async () => {
    const secrets = secretsOfCluster();
    const find = async () => {
      const needs = { referred: new Set(['chosen']), generated: false };
      return (await boxSecrets('shop', needs, secrets, stopping.signal)).find('chosen');
    };
    await eventually('it is missing', async () => (await find()) === undefined);
    happen('ADDED', '2');
    isThere = true;
    await eventually('it has its label', async () =>
      JSON.stringify(await find()).includes('boxgate.dev/client-secret'),
    );
    happen('DELETED', '3');
    await eventually('it has none', () => secrets.watches.known('shop')?.store.get('shop', 'chosen') === undefined);
    expect(await find()).to.deep.include({ name: 'chosen', labels: {} });
  });
});
