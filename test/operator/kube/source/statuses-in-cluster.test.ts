import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../support/eventually.ts';
import { eachInCluster, machine, type SourceRig } from '../source-rig.ts';

describe('statuses in a cluster', () => {
  let rig: SourceRig;
  eachInCluster((made) => (rig = made));

  it('I6: writes nothing where the statuses say it all, also after a restart', async () => {
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.start();
    await rig.ready('Client', 'app');
    const before = await rig.find('Client', 'app');
    await rig.stop();
    rig.calls.length = 0;
    await rig.start();
    await rig.put('Client', 'other', machine('s3cret'));
    await rig.ready('Client', 'other');
    expect(await rig.find('Client', 'app')).to.deep.equal(before);
    expect(rig.writes().filter(({ path }) => path.startsWith(rig.at('Client', 'app')))).to.deep.equal([]);
  });

  it('R-53 are written for an answer without the content of the object, and are known from it', async () => {
    await rig.start();
    await rig.put('Client', 'app', { ...machine('s3cret'), details: { text: 'x'.repeat(8_000) } });
    await rig.ready('Client', 'app');
    const written = rig.writes().filter(({ path }) => path.startsWith(rig.at('Client', 'app')));
    expect(written.map(({ path }) => path.split('/').at(-1))).to.deep.equal(['app', 'status']);
    for (const call of written) expect(call).to.have.property('metadataOnly', true);
    rig.calls.length = 0;
    await rig.put('AccessPolicy', 'readers', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    await eventually('it is granted', async () =>
      (await rig.condition('Client', 'app', 'Granted')).startsWith('True/'),
    );
    // No conflict, and no read before the second write: its version was in the first answer.
    const again = rig.calls.filter(({ path }) => path.startsWith(rig.at('Client', 'app')));
    expect(again.map(({ method }) => method)).to.deep.equal(['PATCH']);
  });

  it('F-29: writes nothing while somebody else writes metadata and conditions of an object ten times a second', async () => {
    await rig.start();
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.ready('Client', 'app');
    rig.calls.length = 0;
    const apply = { method: 'PATCH', contentType: 'application/apply-patch+yaml' } as const;
    for (let nth = 0; nth < 30; nth += 1) {
      const [text, status] = [String(nth), nth % 2 === 0 ? 'True' : 'False'];
      const metadata = { annotations: { 'example.com/nth': text }, labels: { nth: text } };
      await rig.merge('Client', 'app', { metadata });
      const lastTransitionTime = new Date().toISOString();
      const condition = { type: 'example.com/Checked', status, reason: 'Checked', message: text, lastTransitionTime };
      const body = { apiVersion: 'boxgate.dev/v1', kind: 'Client', status: { conditions: [condition] } };
      await rig.plane.call({ ...apply, path: `${rig.at('Client', 'app')}/status?fieldManager=other&force=true`, body });
      await sleep(100);
    }
    await rig.put('Client', 'last', machine('s3cret'));
    await rig.ready('Client', 'last');
    expect(rig.writes().filter(({ path }) => path.startsWith(rig.at('Client', 'app')))).to.deep.equal([]);
    expect((await rig.find('Client', 'app')).conditions.map(({ type }) => type)).to.include.members([
      'Ready',
      'example.com/Checked',
    ]);
  });

  it('F-29: writes a status that somebody overwrote at the next sweep, once, however often that was done', async () => {
    await rig.start();
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.ready('Client', 'app');
    const before = (await rig.find('Client', 'app')).status;
    rig.calls.length = 0;
    const written = (): number => rig.writes().filter(({ path }) => path.startsWith(rig.at('Client', 'app'))).length;
    const overwrite = async (nth: number): Promise<void> => {
      const status = { id: `wrong-${String(nth)}`, conditions: [], grants: null };
      const contentType = 'application/merge-patch+json';
      await rig.plane.call({
        method: 'PATCH',
        path: `${rig.at('Client', 'app')}/status`,
        body: { status },
        contentType,
      });
    };
    for (let nth = 0; nth < 20; nth += 1) await overwrite(nth);
    // What another object causes is no reason to look at this one.
    await rig.put('Client', 'other', machine('s3cret'));
    await rig.ready('Client', 'other');
    expect(written()).to.equal(0);
    await rig.sweep();
    await rig.ready('Client', 'app');
    const { conditions, ...columns } = (await rig.find('Client', 'app')).status;
    const { conditions: _, ...wanted } = before;
    expect(columns).to.deep.equal(wanted);
    expect(conditions).to.have.length((await rig.find('Client', 'other')).conditions.length);
    for (let nth = 0; nth < 3; nth += 1) await rig.sweep();
    await rig.put('Client', 'last', machine('s3cret'));
    await rig.ready('Client', 'last');
    expect(written()).to.equal(1);
  });

  it('gives a condition that did not flip the time it had', async () => {
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.start();
    await rig.ready('Client', 'app');
    const timeOf = async (type: string): Promise<unknown> =>
      (await rig.find('Client', 'app')).conditions.find((one) => one['type'] === type)?.['lastTransitionTime'];
    const before = await timeOf('Ready');
    await rig.stop();
    await rig.put('AccessPolicy', 'readers', { engine: 'allow', link: [{ resourceType: 'Client', id: 'app' }] });
    await rig.start();
    await eventually(
      'it is granted',
      async () => (await rig.condition('Client', 'app', 'Granted')) === 'True/PolicyLinked',
    );
    expect(await timeOf('Ready')).to.equal(before);
  });

  it('F-11: computes a status again over an object that changed meanwhile, and keeps what others wrote', async () => {
    await rig.start();
    let left = 2;
    rig.meanwhile = async ({ method, path }) => {
      if (method !== 'PATCH' || !path.startsWith(rig.at('Client', 'app')) || left === 0) return;
      left -= 1;
      const annotations = { [`example.com/${String(left)}`]: 'x' };
      await rig.merge('Client', 'app', { metadata: { annotations } });
    };
    await rig.put('Client', 'app', machine('s3cret'));
    await rig.ready('Client', 'app');
    expect(left).to.equal(0);
    const { body } = await rig.plane.call({ path: rig.at('Client', 'app') });
    expect(body).to.have.nested.property('metadata.annotations').with.keys('example.com/0', 'example.com/1');
    expect(rig.failures).to.deep.equal([]);
  });

  it('does not give the status of an object to another one of its name', async () => {
    await rig.start();
    let isDone = false;
    rig.meanwhile = async ({ method, path }) => {
      if (method !== 'PATCH' || !path.startsWith(rig.at('Client', 'app')) || isDone) return;
      isDone = true;
      await rig.plane.call({ method: 'DELETE', path: rig.at('Client', 'app') });
      await rig.put('Client', 'app', { grant_types: ['client_credentials'], secret: 'of-the-second', suspend: true });
    };
    await rig.put('Client', 'app', machine('of-the-first'));
    await eventually(
      'the second one is suspended',
      async () => (await rig.condition('Client', 'app')) === 'Unknown/Suspended',
    );
  });

  it('tries again forever what could not be written, and never takes it for done', async () => {
    await rig.allow('statuses');
    await rig.start();
    await rig.put('Client', 'app', machine('s3cret'));
    await eventually('it was refused', () => rig.failures.length > 0);
    await rig.allow('statuses', 'patch');
    await rig.ready('Client', 'app');
  });
});
