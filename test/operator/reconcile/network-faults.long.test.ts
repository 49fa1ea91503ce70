import { expect } from 'chai';
import { startRefusingProxy, type Refusal, type RefusingProxy } from '../../support/cluster/refusing-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { startProcessRig, type ProcessRig } from '../operator-rig.ts';

const client = { grant_types: ['client_credentials'], secret: 'a-secret-of-the-app' };
/**
 * It leads for forty seconds after the last time that it was heard: two calls over connections that are silent, and
 * more.
 */
const settings = { BOXGATE_LEASE_SECONDS: '60' };

describe('an operator that reaches the API server badly', () => {
  let rig: ProcessRig;
  let box: string;
  let operator: OperatorProcess;
  let sockets: FaultProxy;
  let requests: RefusingProxy;
  before(async () => {
    rig = await startProcessRig();
    box = await rig.box();
    [sockets, requests] = await Promise.all([
      startFaultProxy(Number(new URL(rig.plane.url).port)),
      startRefusingProxy(rig.plane),
    ]);
  });
  after(async () => {
    await rig.stop();
    await Promise.all([sockets.close(), requests.close()]);
  });
  afterEach(async () => {
    await operator.end('SIGTERM');
  });

  async function start(port: number): Promise<void> {
    operator = await rig.operatorProcess({ ...settings, KUBERNETES_SERVICE_PORT: String(port) });
    await makesLive('at-first');
  }

  async function makesLive(name: string): Promise<void> {
    await rig.put('Client', box, name, { ...client, description: String(Math.random()) });
    await rig.ready('Client', box, name, 120_000);
    expect(await rig.token(box, name, client.secret)).to.equal(200);
  }

  it('F-03: of connections that carry nothing any more it takes new ones, in the same process', async () => {
    await start(sockets.port);
    sockets.silence();
    await makesLive('over-new-connections');
    expect(operator.hasEnded()).to.equal(false);
  });

  const refusals: readonly (readonly [how: string, refusal: Refusal])[] = [
    ['429 with Retry-After', { status: 429, headers: { 'Retry-After': '1' } }],
    ['500', { status: 500 }],
    ['503', { status: 503 }],
  ];
  for (const [how, refusal] of refusals) {
    it(`F-06: while each watch is refused with ${how} nothing is heard of, and all is once they are not`, async () => {
      await start(requests.port);
      const before = requests.refused;
      requests.refuse = (path) => (path.includes('watch=true') ? refusal : undefined);
      requests.cut();
      await eventually('each kind was refused twice', () => requests.refused >= before + 8, 60_000);
      const name = `after-${String(refusal.status)}`;
      await rig.put('Client', box, name, client);
      await eventually('it is tried on', () => requests.refused >= before + 16, 60_000);
      expect(await rig.condition('Client', box, name)).not.to.equal('True/Ready');
      requests.refuse = () => undefined;
      await rig.ready('Client', box, name, 120_000);
      expect(operator.hasEnded()).to.equal(false);
    });
  }
});
