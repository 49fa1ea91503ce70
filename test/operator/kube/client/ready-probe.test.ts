import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import { KINDS, type Kind } from '../../../../crds/kind.ts';
import { clusterConfig, createConnection } from '../../../../operator/kube/client/cluster-config.ts';
import { createKubeApi } from '../../../../operator/kube/client/kube-api.ts';
import { collectionAt } from '../../../support/cluster/collection-at.ts';
import { watch } from '../../../../operator/kube/client/watch.ts';
import { textOf, sendJson } from '../../../oauth/requests.ts';
import { startApiProcess, type ApiProcess } from '../../../support/api-process.ts';
import { unthrottled } from '../../../support/unthrottled.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';

const rounds = 8;

describe('Ready, probed on the event that says it, on two replicas of which one is frozen', () => {
  let rig: OperatorRig;
  let frozen: ApiProcess;
  let box: string;
  before(async () => {
    rig = await startOperatorRig();
    frozen = await startApiProcess(rig.database.apiUrl, unthrottled);
    await rig.operator();
    box = await rig.box();
  });
  after(async () => {
    frozen.signal('SIGCONT');
    await frozen.end('SIGKILL');
    await rig.stop();
  });

  /** Resolves with the very event by which an object is Ready in a generation. */
  async function readyEvent(kind: Kind, name: string, generation: number): Promise<void> {
    const path = `/apis/boxgate.dev/v1/namespaces/${box}/${KINDS[kind].plural}`;
    const api = createKubeApi(createConnection(() => clusterConfig({ kubeconfig: rig.plane.kubeconfig })));
    const done = new AbortController();
    const times = { timeoutSeconds: 60, silence: 60_000 };
    for await (const { object } of watch(
      api,
      { collection: collectionAt(path), resourceVersion: '0' },
      times,
      done.signal,
    )) {
      const { metadata, status } = object;
      if (!isObject(metadata) || metadata['name'] !== name || metadata['generation'] !== generation) continue;
      const all = isObject(status) && Array.isArray(status['conditions']) ? status['conditions'].filter(isObject) : [];
      const ready = all.find(({ type }) => type === 'Ready');
      if (ready?.['status'] === 'True' && ready['observedGeneration'] === generation) break;
    }
    done.abort(new Error('seen'));
  }

  /**
   * Changes an object while one replica stands still; what is asked of both on the event is answered once it moves
   * again.
   */
  async function onReady<T>(
    kind: Kind,
    name: string,
    generation: number,
    spec: object,
    ask: (url: string) => Promise<T>,
  ): Promise<readonly T[]> {
    frozen.signal('SIGSTOP');
    const event = readyEvent(kind, name, generation);
    await rig.put(kind, box, name, spec);
    await event;
    const [moving, standing] = [ask(rig.api.url), ask(frozen.url)] as const;
    const first = await moving;
    frozen.signal('SIGCONT');
    return [first, await standing];
  }

  async function tokenOf(url: string, secret: string): Promise<string> {
    const body = { grant_type: 'client_credentials', client_id: 'app', client_secret: secret };
    const reply = await sendJson(`${url}/boxes/${box}/auth/token`, body);
    return reply.status === 200 ? textOf(reply, 'access_token') : String(reply.status);
  }

  it('I8: the new secret gets a token on each, and the old one does not', async () => {
    const secretOf = (round: number): string => `the-secret-of-round-${String(round)}`;
    for (let round = 1; round <= rounds; round += 1) {
      const spec = { grant_types: ['client_credentials'], secret: secretOf(round) };
      const answers = await onReady('Client', 'app', round, spec, async (url) => [
        await tokenOf(url, secretOf(round)),
        await tokenOf(url, secretOf(round - 1)),
      ]);
      for (const [fresh, old] of answers) {
        expect(fresh, `round ${String(round)}`).to.match(/^bgt_/);
        expect(old, `round ${String(round)}`).to.equal('401');
      }
      expect(answers).to.have.length(2);
    }
  });

  it('I1, I8: what a policy grants no more is refused by each, and what it grants again is let in', async () => {
    const token = await tokenOf(rig.api.url, `the-secret-of-round-${String(rounds)}`);
    const headers = { Authorization: `Bearer ${token}` };
    for (let round = 1; round <= rounds; round += 1) {
      const id = round % 2 === 1 ? 'app' : 'somebody-else';
      const spec = { engine: 'allow', link: [{ resourceType: 'Client', id }] };
      const answers = await onReady('AccessPolicy', 'readers', round, spec, async (url) => {
        return (await fetch(`${url}/boxes/${box}/Session`, { headers })).status;
      });
      const expected = id === 'app' ? 200 : 403;
      expect(answers, `round ${String(round)}`).to.deep.equal([expected, expected]);
    }
  });
});
