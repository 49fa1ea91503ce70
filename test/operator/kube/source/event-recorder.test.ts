import { isObject } from '../../../../crds/path.ts';
import { expect } from 'chai';
import type { ObjectEvent } from '../../../../operator/status/status.ts';
import { clusterConfig, createConnection } from '../../../../operator/kube/client/cluster-config.ts';
import { createEventRecorder } from '../../../../operator/kube/source/event-recorder.ts';
import { createKubeApi } from '../../../../operator/kube/client/kube-api.ts';
import { answeredCalls, type SentCall } from '../recorded-calls.ts';
import { KubeError } from '../../../../operator/kube/client/kube-error.ts';
import { controlPlane } from '../../../support/cluster/control-plane.ts';
import { kubectl } from '../../../support/cluster/install-crds.ts';
import { eventually } from '../../../support/eventually.ts';
import { virtualTime, type VirtualTime } from '../../../support/virtual-time.ts';
import { installOperator } from '../../install-operator.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

function eventOf(name: string, message = 'something happened', namespace = 'shop'): ObjectEvent {
  const object = { kind: 'Client', namespace, name, uid: `uid-${name}` } as const;
  return { object, type: 'Warning', reason: 'Happened', message };
}

describe('a recorder of events', () => {
  let time: VirtualTime;
  let calls: SentCall[];
  let lost: unknown[];
  /** Error that the API server answers a call with. */
  let refusalOf: (call: SentCall) => KubeError | undefined;
  let stopping: AbortController;
  beforeEach(() => {
    [time, calls, lost, refusalOf, stopping] = [virtualTime(), [], [], () => undefined, new AbortController()];
  });

  function recorder() {
    const api = answeredCalls(async (call) => {
      calls.push(call);
      const refusal = refusalOf(call);
      if (refusal !== undefined) throw refusal;
      return {};
    });
    const options = {
      api,
      instance: 'pod_1',
      now: () => new Date(start + time.now()),
      schedule: (wait: number, callback: () => void) => time.schedule(wait, callback),
      onLost: (error: unknown) => void lost.push(error),
    };
    return createEventRecorder(options, stopping.signal);
  }

  it('names an Event after its object, also after one of a long name, and escapes control characters', async () => {
    // E-15: a name that is cut behind a dot or a hyphen was refused, and the Event lost.
    const { record } = bound(recorder());
    record(eventOf(`${'a'.repeat(197)}.-.b`, 'it says \u001b[31m'));
    await time.pass(100);
    const { body } = calls[0] ?? {};
    const { metadata, note } = isObject(body) ? body : {};
    expect(isObject(metadata) && metadata['name']).to.match(/^a{197}\.[0-9a-f]{16}$/);
    expect(note).to.equal('it says \\x1b[31m');
  });

  it('tells of an event once, and of one that lasts once in ten minutes', async () => {
    const { record } = bound(recorder());
    for (let second = 0; second < 1_000; second += 1) {
      record(eventOf('app'));
      await time.pass(1_000);
    }
    expect(calls).to.have.length(2);
    expect(calls[0]).to.deep.include({ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/shop/events' });
  });

  it('tells of another object, reason or message in an Event of its own, and of an old one again', async () => {
    const { record } = bound(recorder());
    record(eventOf('app'));
    record(eventOf('other'));
    record(eventOf('app', 'something else happened'));
    await time.pass(1_000);
    expect(calls).to.have.length(3);
    await time.pass(600_000);
    record(eventOf('app'));
    await time.pass(1_000);
    expect(calls.map(({ method }) => method)).to.deep.equal(['POST', 'POST', 'POST', 'POST']);
  });

  it('tells at each change between good and bad what holds then', async () => {
    const { record } = bound(recorder());
    const bad = eventOf('app');
    const good: ObjectEvent = { ...bad, type: 'Normal', reason: 'Ready' };
    for (const event of [bad, good, bad, bad, good, good]) {
      record(event);
      record(eventOf('other'));
      await time.pass(1_000);
    }
    const reasons = calls.map(({ body }) => (isObject(body) ? body['reason'] : undefined));
    expect(reasons).to.deep.equal(['Happened', 'Happened', 'Ready', 'Happened', 'Ready']);
  });

  it('sends twenty a second at most, keeps a thousand, and loses what is beyond', async () => {
    const { record } = bound(recorder());
    for (let n = 0; n < 2_000; n += 1) record(eventOf(`app-${String(n)}`));
    await time.pass(10_000);
    expect(calls.length).to.be.within(190, 210);
    await time.pass(600_000);
    expect(calls.length).to.be.within(1_000, 1_001);
    expect(calls.length + lost.length).to.equal(2_000);
  });

  it('loses quietly what the API server does not take, and tells the next', async () => {
    const { record } = bound(recorder());
    refusalOf = () => new KubeError('unavailable', 'no answer');
    record(eventOf('app'));
    await time.pass(1_000);
    refusalOf = () => undefined;
    record(eventOf('other'));
    await time.pass(1_000);
    expect([calls.length, lost.length]).to.deep.equal([2, 1]);
  });

  it('F-21: leaves a namespace alone that is being deleted', async () => {
    const { record } = bound(recorder());
    refusalOf = () => new KubeError('terminating', 'namespace shop is being terminated');
    record(eventOf('app'));
    await time.pass(1_000);
    refusalOf = () => undefined;
    for (let n = 0; n < 100; n += 1) record(eventOf(`app-${String(n)}`));
    record(eventOf('app', 'something happened', 'other-shop'));
    await time.pass(60_000);
    expect(calls).to.have.length(2);
  });

  it('tells an event again that was lost', async () => {
    const { record } = bound(recorder());
    refusalOf = () => new KubeError('unavailable', 'no answer');
    record(eventOf('app'));
    await time.pass(1_000);
    refusalOf = () => undefined;
    record(eventOf('app'));
    await time.pass(1_000);
    expect([calls.length, lost.length]).to.deep.equal([2, 1]);
  });

  it('leaves a namespace alone that is gone', async () => {
    const { record } = bound(recorder());
    record(eventOf('app'));
    await time.pass(1_000);
    refusalOf = () => new KubeError('not-found', 'namespaces "shop" not found');
    for (const name of ['app', 'other', 'third']) record(eventOf(name));
    await time.pass(1_000);
    record(eventOf('fourth'));
    await time.pass(1_000);
    expect(calls).to.have.length(3);
  });

  it('F-21: knows a namespace that is being deleted by the answer of a real API server', async () => {
    const plane = await controlPlane();
    const { access } = await installOperator(plane);
    const namespace = await plane.namespace('going');
    await plane.call({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    const options = {
      api: createKubeApi(createConnection(() => clusterConfig(access))),
      instance: 'pod_1',
      now: () => new Date(),
      schedule: (_wait: number, callback: () => void) => (setImmediate(callback), () => undefined),
      onLost: (error: unknown) => void lost.push(error),
    };
    const { record } = bound(createEventRecorder(options, stopping.signal));
    record(eventOf('app', 'something happened', namespace));
    await eventually('the event is lost', () => lost.length > 0);
    record(eventOf('other', 'something happened', namespace));
    record(eventOf('third', 'something happened', 'default'));
    await eventually('the next one is written', async () =>
      (await kubectl(plane, '-n', 'default', 'get', 'events.events.k8s.io', '-o', 'name')).includes('/third.'),
    );
    expect(lost).to.have.length(1);
    expect(lost[0]).to.include({ code: 'terminating' });
  });

  it('tells nothing more once it is stopped', async () => {
    const { record } = bound(recorder());
    stopping.abort();
    record(eventOf('app'));
    await time.pass(1_000);
    expect(calls).to.deep.equal([]);
  });

  it('is read below the object with kubectl, written with the rights of the operator', async () => {
    const plane = await controlPlane();
    const { access } = await installOperator(plane);
    const namespace = await plane.namespace('events');
    const path = `/apis/boxgate.dev/v1/namespaces/${namespace}/clients`;
    const spec = { grant_types: ['client_credentials'] };
    const made = await plane.call({
      method: 'POST',
      path,
      body: { apiVersion: 'boxgate.dev/v1', kind: 'Client', metadata: { name: 'app' }, spec },
    });
    const metadata = isObject(made.body) && isObject(made.body['metadata']) ? made.body['metadata'] : {};
    const options = {
      api: createKubeApi(createConnection(() => clusterConfig(access))),
      instance: 'pod_1',
      now: () => new Date(),
      schedule: (_wait: number, callback: () => void) => (setImmediate(callback), () => undefined),
      onLost: (error: unknown) => void lost.push(error),
    };
    const { record } = bound(createEventRecorder(options, stopping.signal));
    const event = eventOf('app', `Secret app ${'x'.repeat(2_000)}`, namespace);
    const told = { ...event, object: { ...event.object, uid: String(metadata['uid']) } };
    record(told);
    await eventually('it is told', async () => (await describeApp()).includes('Happened'));
    expect(lost).to.deep.equal([]);

    function describeApp(): Promise<string> {
      return kubectl(plane, '-n', namespace, 'describe', 'client', 'app');
    }
  });
});

function bound(recorder: ReturnType<typeof createEventRecorder>): { record: (event: ObjectEvent) => void } {
  return { record: (event) => recorder.record(event) };
}
