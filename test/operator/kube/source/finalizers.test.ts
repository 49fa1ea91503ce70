import { expect } from 'chai';
import { declaredObject, novelty, type DeclaredObject } from '../../../../operator/kube/source/declared-object.ts';
import { createFinalizers, type ClusterFinalizers } from '../../../../operator/kube/source/finalizers.ts';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';
import { ObjectStore } from '../../../../operator/kube/client/object-store.ts';
import { answeredCalls, type SentCall } from '../recorded-calls.ts';

const { signal } = new AbortController();
const ours = 'boxgate.dev/finalizer';
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const date = (): Date => new Date('2026-01-01T00:00:00Z');
const onFailure = (): void => undefined;
const app = { kind: 'Client', name: 'app', uid: 'uid-app' } as const;

function live(more: object = {}) {
  const metadata = { namespace: 'shop', name: 'app', uid: 'uid-app', resourceVersion: '7', generation: 1, ...more };
  return { metadata, spec: {} };
}

function kept(more: object = {}): DeclaredObject {
  return declaredObject('Client', live(more)) ?? expect.fail('is no object');
}

describe('the finalizer', () => {
  let store: ObjectStore<DeclaredObject>;
  let calls: SentCall[];
  /** Answers of the API server, in order. */
  let answers: (object | KubeError)[];
  let time: number;
  let holds: ClusterFinalizers;
  beforeEach(() => {
    [store, calls, answers, time, told] = [new ObjectStore(novelty), [], [], 1_000, []];
    const api = answeredCalls(async (call) => {
      const isStatus = call.path.endsWith('/status');
      if (isStatus) told.push(/"reason":"(\w+)"/.exec(JSON.stringify(call.body))?.[1] ?? '');
      else calls.push(call);
      const answer = answers.shift() ?? (isStatus ? asKept() : live({ resourceVersion: '8' }));
      if (answer instanceof KubeError) throw answer;
      return answer;
    });
    holds = createFinalizers({ api, storeOf: () => store, ownNamespace: 'own', now: () => time, date, onFailure });
  });

  /** Statuses written, each as its reason of Ready. */
  let told: string[];
  function asKept(): object {
    const { finalizers = [] } = store.get('shop', 'app') ?? {};
    return live({ ...deleted, finalizers });
  }

  const patches = () => calls.filter(({ method }) => method === 'PATCH').map(({ body }) => body);
  const written = (finalizers: readonly string[], resourceVersion = '7') => ({
    metadata: { uid: 'uid-app', resourceVersion, finalizers },
  });

  it('is added behind those of others, of the object and the version that it was computed from', async () => {
    store.put(kept({ finalizers: ['example.com/other'] }));
    await holds.add('shop', [app], signal);
    expect(patches()).to.deep.equal([written(['example.com/other', ours])]);
  });

  it('R-53 is written for an answer without the content of the object, whose status stays known', async () => {
    const known = declaredObject('Client', { ...live(), status: { id: 'app' } });
    if (known === undefined) expect.fail('is no object');
    store.put(known);
    answers = [{ metadata: live({ resourceVersion: '8', finalizers: [ours] }).metadata }];
    await holds.add('shop', [app], signal);
    expect(calls[0]).to.deep.include({ method: 'PATCH', metadataOnly: true });
    const now = store.get('shop', 'app');
    expect(now).to.deep.include({ resourceVersion: '8', finalizers: [ours], status: known.status });
    expect(now?.declared).to.equal(known.declared);
  });

  it('is taken off, and those of others stay', async () => {
    store.put(kept({ ...deleted, finalizers: ['example.com/one', ours, 'example.com/two'] }));
    await holds.remove('shop', [app], signal);
    expect(patches()).to.deep.equal([written(['example.com/one', 'example.com/two'])]);
    // E-15: a terminating object that others hold stayed Ready.
    expect(told).to.deep.equal(['Terminating']);
  });

  const idle: [what: string, object: object | undefined, box: string][] = [
    ['one that has it', { finalizers: [ours] }, 'shop'],
    ['one that is going: it is too late', deleted, 'shop'],
    ['another one of its name', { uid: 'another' }, 'shop'],
    ['one that nobody has heard of', undefined, 'shop'],
    ['one in the operator’s own namespace', { namespace: 'own' }, 'own'],
  ];
  for (const [what, object, box] of idle) {
    it(`is not added to ${what}`, async () => {
      if (object !== undefined) store.put(kept(object));
      await holds.add(box, [app], signal);
      expect(calls).to.deep.equal([]);
    });
  }

  it('is computed again over an object that changed meanwhile', async () => {
    store.put(kept({ ...deleted, finalizers: [ours] }));
    const newer = live({ ...deleted, resourceVersion: '9', finalizers: [ours, 'example.com/new'] });
    answers = [new KubeError('conflict', 'changed'), newer, newer];
    await holds.remove('shop', [app], signal);
    expect(patches()).to.deep.equal([written([]), written(['example.com/new'], '9')]);
  });

  it('stays on an object that was created again meanwhile', async () => {
    store.put(kept({ ...deleted, finalizers: [ours] }));
    answers = [new KubeError('conflict', 'changed'), live({ uid: 'another', finalizers: [ours] })];
    await holds.remove('shop', [app], signal);
    expect(patches()).to.have.length(1);
  });

  it('is no trouble on an object that is gone', async () => {
    store.put(kept({ ...deleted, finalizers: [ours] }));
    answers = [new KubeError('not-found', 'gone')];
    await holds.remove('shop', [app], signal);
    expect(patches()).to.have.length(1);
  });

  it('is given up, for now, on an object that changes all the time', async () => {
    store.put(kept({ finalizers: [ours] }));
    answers = Array.from({ length: 12 }, (_, nth) =>
      nth % 2 === 0 ? new KubeError('conflict', 'changed') : live({ finalizers: [ours] }),
    );
    await holds.remove('shop', [app], signal);
    expect([...holds.refusals('shop').values()]).to.deep.equal(['changed']);
    expect(patches()).to.have.length(5);
  });

  it('is not asked for in each pass where the API server refuses it, and again after a while', async () => {
    store.put(kept());
    answers = [new KubeError('forbidden', 'the team says no')];
    await holds.add('shop', [app], signal);
    await holds.add('shop', [app], signal);
    expect([...holds.refusals('shop')]).to.deep.equal([['uid-app', 'the team says no']]);
    expect(patches()).to.have.length(1);
    time += 10_000;
    answers = [live({ resourceVersion: '8', finalizers: [ours] })];
    await holds.add('shop', [app], signal);
    expect([patches().length, holds.refusals('shop').size]).to.deep.equal([2, 0]);
  });

  it('fails the pass where the API server does not answer', async () => {
    store.put(kept());
    answers = [new KubeError('unavailable', 'away')];
    const thrown: unknown = await holds.add('shop', [app], signal).catch((error: unknown) => error);
    expect(String(thrown)).to.equal('KubeError: away');
  });

  describe('of objects that are going', () => {
    function goes(more: object = {}): void {
      const object = kept({ ...deleted, finalizers: [ours], ...more });
      holds.note(object);
      store.put(object);
    }

    it('waits, by our own clock since we first saw it', () => {
      goes();
      time += 3_000;
      goes({ resourceVersion: '8' });
      expect(holds.terminating('shop')).to.deep.equal([{ ...app, namespace: 'shop', waited: 3_000 }]);
      expect(holds.terminating()).to.have.length(1);
      expect(holds.terminating('another')).to.deep.equal([]);
    });

    it('waits for us no more once ours is off, though another one holds the object', () => {
      goes();
      store.put(kept({ ...deleted, resourceVersion: '8', finalizers: ['example.com/other'] }));
      expect(holds.terminating()).to.deep.equal([]);
    });

    it('does not wait for us where it never had ours', () => {
      goes({ finalizers: ['example.com/other'] });
      expect(holds.terminating()).to.deep.equal([]);
    });
  });
});
