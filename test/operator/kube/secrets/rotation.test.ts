import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../support/eventually.ts';
import type { TestOperator } from '../../../support/operator-process.ts';
import { bindSecrets } from '../../install-operator.ts';
import { startOperatorRig, type OperatorRig } from '../../operator-rig.ts';
import { testSecrets, type TestSecrets } from './secret-things.ts';

const machine = { grant_types: ['client_credentials'] };
/** One that was killed is followed at once. */
const onePod = { BOXGATE_POD_UID: 'one-pod' };

describe('rotation of a generated Secret', () => {
  let rig: OperatorRig;
  let box: string;
  let secrets: TestSecrets;
  let operator: TestOperator;
  before(async () => {
    rig = await startOperatorRig();
    operator = await rig.operator(onePod);
  });
  after(() => rig.stop());
  beforeEach(async () => {
    box = await rig.box();
    secrets = testSecrets(rig.plane, box);
    await rig.put('Client', box, 'app', machine);
    await rig.ready('Client', box, 'app');
  });

  const valueOf = async (): Promise<string> => (await secrets.find('app'))?.data['client_secret'] ?? '';
  const token = (secret: string): Promise<number> => rig.token(box, 'app', secret);
  const inTheEnd = (what: string, secret: string, status: number): Promise<void> =>
    eventually(what, async () => (await token(secret)) === status);
  /** A secret works that is valid until a time, by the clock. Who could ask only later has learned nothing. */
  async function worksUntil(time: number, secret: string): Promise<void> {
    const status = await token(secret);
    if (Date.now() < time) expect(status).to.equal(200);
  }

  const rotateNow = (overlap: string): Promise<void> =>
    rig.put('Client', box, 'app', { ...machine, rotation: { at: new Date().toISOString(), overlap } });

  it('T-13 never fails an app, however late it reads; what is over retires at its deadline', async () => {
    const seen: string[] = [];
    let answers = 0;
    const over = new AbortController();
    // Reads the Secret once in a while, and uses what it has read until then: less than the overlap.
    const lateApp = async (lag: number): Promise<void> => {
      while (!over.signal.aborted) {
        const read = Date.now();
        const secret = await valueOf();
        if (!seen.includes(secret)) seen.push(secret);
        while (Date.now() < read + lag) {
          await worksUntil(read + 5_000, secret);
          answers += 1;
          await sleep(20);
        }
      }
    };
    const apps = Promise.all([lateApp(50), lateApp(1_000), lateApp(2_500)]);
    const rotatesThrice = async (): Promise<void> => {
      for (let count = 2; count <= 4; count += 1) {
        await rotateNow('5s');
        await eventually('it is rotated', () => over.signal.aborted || seen.length >= count, 60_000);
      }
      await eventually('the apps have asked', () => over.signal.aborted || answers > 100);
    };
    const rotated = rotatesThrice();
    // What fails an app ends the test.
    await Promise.race([apps, rotated]).finally(() => over.abort());
    await apps;
    await inTheEnd('the first one is refused', seen[0] ?? '', 401);
    expect((await secrets.find('app'))?.data['client_secret']).to.not.equal(seen[0]);
  });

  it('happens once at a time that is given, shows no next one early, and leaves nothing behind', async () => {
    const before = await valueOf();
    const time = Date.now() + 2_000;
    const at = new Date(time).toISOString();
    await rig.put('Client', box, 'app', { ...machine, rotation: { at, overlap: '4s' } });
    await eventually('it is rotated', async () => (await valueOf()) !== before);
    const after = await valueOf();
    await worksUntil(time + 4_000, before);
    expect(await token(after)).to.equal(200);
    const previous = (await secrets.find('app'))?.data['.boxgate-previous'];
    if (Date.now() < time + 4_000) expect(previous).to.equal(before);
    await inTheEnd('the old one has retired', before, 401);
    await eventually('nothing is left of it', async () => {
      const found = await secrets.find('app');
      const names = [...Object.keys(found?.data ?? {}), ...Object.keys(found?.annotations ?? {})];
      return !names.some((name) => name.includes('boxgate-') || name.includes('previous'));
    });
    expect(await valueOf()).to.equal(after);
    expect(await token(after)).to.equal(200);
  });

  it('goes on where an operator was killed between its steps', async () => {
    await operator.stop();
    let killed = await rig.operatorProcess(onePod);
    const before = await valueOf();
    await rotateNow('5s');
    const answers: number[] = [];
    let rotated = 0;
    let known = before;
    while (rotated < 2) {
      await sleep(50);
      const secret = await valueOf();
      answers.push(await token(secret));
      if (secret === known) continue;
      [known, rotated] = [secret, rotated + 1];
      await rotateNow('5s');
      await killed.end('SIGKILL');
      killed = await rig.operatorProcess(onePod);
    }
    await killed.end('SIGKILL');
    operator = await rig.operator(onePod);
    expect(answers.filter((status) => status !== 200)).to.deep.equal([]);
  });

  const byHand: [title: string, change: (secrets: TestSecrets) => Promise<void>][] = [
    ['deleted', (all) => all.remove('app')],
    ['emptied', (all) => all.patch('app', { data: { client_secret: '' } })],
    ['taken out', (all) => all.patch('app', { data: { client_secret: null } })],
  ];
  for (const [title, change] of byHand) {
    it(`F-26 the old value of a Secret that was ${title} by hand is valid beside the new one for the overlap`, async () => {
      await rig.put('Client', box, 'app', { ...machine, rotation: { every: '24h', overlap: '6s' } });
      await rig.ready('Client', box, 'app');
      const before = await valueOf();
      const since = Date.now();
      await change(secrets);
      await eventually('there is a new one', async () => ![before, ''].includes(await valueOf()));
      await inTheEnd('the new one works', await valueOf(), 200);
      await worksUntil(since + 6_000, before);
      await inTheEnd('the old one is refused', before, 401);
    });
  }

  for (const [title, change] of byHand) {
    it(`F-26 so it is where it was ${title} while no operator ran: only the API has the old one, and only its hash`, async () => {
      await rig.put('Client', box, 'app', { ...machine, rotation: { every: '24h', overlap: '6s' } });
      await rig.ready('Client', box, 'app');
      const before = await valueOf();
      await operator.stop();
      await change(secrets);
      const since = Date.now();
      operator = await rig.operator(onePod);
      await eventually('there is a new one', async () => ![before, ''].includes(await valueOf()));
      await inTheEnd('the new one works', await valueOf(), 200);
      await worksUntil(since + 6_000, before);
      await inTheEnd('the old one is refused', before, 401);
      await eventually('nothing is left of it', async () => {
        const found = await secrets.find('app');
        return !Object.keys(found?.annotations ?? {}).some((name) => name.includes('previous'));
      });
    });
  }

  it('F-26 and so it is where the next operator cannot make the Secret at once', async () => {
    await rig.put('Client', box, 'app', { ...machine, rotation: { every: '24h', overlap: '20s' } });
    await rig.ready('Client', box, 'app');
    const before = await valueOf();
    await operator.stop();
    await secrets.remove('app');
    const binding = `/apis/rbac.authorization.k8s.io/v1/namespaces/${box}/rolebindings/boxgate-box`;
    await rig.plane.call({ method: 'DELETE', path: binding });
    operator = await rig.operator(onePod);
    await eventually(
      'it says so',
      async () => (await rig.condition('Client', box, 'app', 'SecretReady')) === 'False/SecretForbidden',
    );
    expect(await token(before)).to.equal(200);
    const since = Date.now();
    await bindSecrets(rig.plane, box);
    await eventually('there is a new one', async () => (await valueOf()) !== '');
    await inTheEnd('the new one works', await valueOf(), 200);
    await worksUntil(since + 20_000, before);
    await inTheEnd('the old one is refused', before, 401);
  });

  it('F-26 what a client had before its Secret was generated is valid no longer, though its deletion is not remembered', async () => {
    const chosen = 'a chosen secret of some length';
    await rig.put('Client', box, 'other', { ...machine, secret: chosen });
    await rig.ready('Client', box, 'other');
    expect(await rig.token(box, 'other', chosen)).to.equal(200);
    await operator.stop();
    await rig.put('Client', box, 'other', { ...machine, generateSecret: {} });
    operator = await rig.operator(onePod);
    await eventually('the chosen one is refused', async () => (await rig.token(box, 'other', chosen)) === 401);
  });
});
