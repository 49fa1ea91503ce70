import { expect } from 'chai';
import { declaredObject, novelty } from '../../../../operator/kube/source/declared-object.ts';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';
import { ObjectStore } from '../../../../operator/kube/client/object-store.ts';
import { writeStatuses } from '../../../../operator/kube/source/status-writer.ts';
import type { ObjectStatus } from '../../../../operator/status/object-status.ts';
import {
  startScriptedApiServer,
  status,
  type ScriptedApiServer,
} from '../../../support/cluster/scripted-api-server.ts';
import { apiOf } from '../things.ts';

const never = new AbortController().signal;

function statusOf(name: string, uid = `uid-${name}`): ObjectStatus {
  return {
    kind: 'Box',
    namespace: 'shop',
    name,
    uid,
    place: '',
    observedGeneration: 1,
    conditions: [],
    columns: {
      ...{ kind: 'Box', issuer: '', inClusterTokenUrl: '', database: 'home', clients: 0, policies: 0 },
      ...{ users: 0, admin: undefined },
    },
    faults: [],
  };
}

describe('writeStatuses', () => {
  let server: ScriptedApiServer;
  beforeEach(async () => {
    server = await startScriptedApiServer();
  });
  afterEach(() => server.close());

  function storeWith(...names: readonly string[]): ObjectStore<NonNullable<ReturnType<typeof declaredObject>>> {
    const store = new ObjectStore(novelty);
    for (const name of names) {
      const metadata = { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: '7', generation: 1 };
      const object = declaredObject('Box', { metadata, spec: {} }) ?? expect.fail('is no object');
      store.put(object);
    }
    return store;
  }

  let refused: string[];
  beforeEach(() => void (refused = []));
  const onRefused = ({ name }: ObjectStatus): void => void refused.push(name);

  it('gives no object the status of another one of its name, nor of one that is gone', async () => {
    const statuses = [statusOf('one', 'uid-of-the-first'), statusOf('gone')];
    await writeStatuses({ api: apiOf(server), storeOf: () => storeWith('one'), onRefused }, statuses, never);
    expect(server.requests).to.deep.equal([]);
  });

  it('gives every other one its turn when some cannot be written, and throws what the first one met', async () => {
    const names = Array.from({ length: 40 }, (_, n) => `box-${String(n)}`);
    // E-06: a status that an admission rule refuses failed the pass, and held up the statuses behind it.
    server.next('other', status(422), status(503));
    const thrown: unknown = await writeStatuses(
      { api: apiOf(server), storeOf: () => storeWith(...names), onRefused },
      names.map((name) => statusOf(name)),
      never,
    ).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(KubeError).with.property('status', 503);
    expect(refused).to.have.length(1);
    expect(server.requests).to.have.length(40);
  });

  it('F-11: gives up an object that changes faster than it can be written, for now', async () => {
    const conflicts = Array.from({ length: 5 }, () => status(409));
    const read = (): typeof conflicts => [
      (response) => {
        const metadata = { namespace: 'shop', name: 'one', uid: 'uid-one', resourceVersion: '8', generation: 1 };
        response.end(JSON.stringify({ metadata, spec: {} }));
      },
    ];
    for (const conflict of conflicts) server.next('other', conflict, ...read());
    const store = storeWith('one');
    const thrown: unknown = await writeStatuses(
      { api: apiOf(server), storeOf: () => store, onRefused },
      [statusOf('one')],
      never,
    ).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(KubeError).with.property('code', 'conflict');
    expect(server.requests).to.have.length(9);
  });
});
