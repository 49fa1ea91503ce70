import path from 'node:path';
import { expect } from 'chai';
import { joinInstallation } from '../../api/db/core/installation.ts';
import { isObject } from '../../crds/path.ts';
import { startOperatorRig, type OperatorRig } from '../operator/operator-rig.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres.ts';
import { findPrograms } from '../../tools/envtest/find-programs.ts';
import { startBoxctl, type Boxctl, type Ran } from './boxctl.ts';

const secret = 's'.repeat(32);

describe('boxctl box move', () => {
  let rig: OperatorRig;
  let eu: TestDatabase;
  let boxctl: Boxctl;
  let box = '';

  before(async () => {
    const [home, other] = await Promise.all([freshDatabase(), freshDatabase()]);
    eu = other;
    await joinInstallation([
      { name: 'home', ownerUrl: home.ownerUrl },
      { name: 'eu', ownerUrl: eu.ownerUrl },
    ]);
    const environment = { BOXGATE_DATABASES: 'home,eu', BOXGATE_DATABASE_URL_EU: eu.apiUrl };
    rig = await startOperatorRig(undefined, false, { home, environment });
    const programs = [path.dirname(findPrograms().kubectl), process.env['PATH'] ?? ''];
    boxctl = await startBoxctl({ KUBECONFIG: rig.plane.kubeconfig, PATH: programs.join(':') });
    box = await rig.box();
  });
  after(async () => {
    await boxctl.remove();
    await rig.stop();
    await eu.drop();
  });

  const move = (...args: readonly string[]): Promise<Ran> => boxctl.run(['box', 'move', ...args]);

  /** Returns the database that the Namespace names. */
  async function wanted(): Promise<unknown> {
    const { body } = await rig.plane.call({ path: `/api/v1/namespaces/${box}` });
    const { annotations } = isObject(body) && isObject(body['metadata']) ? body['metadata'] : {};
    return isObject(annotations) ? annotations['boxgate.dev/database'] : undefined;
  }

  const malformed: readonly (readonly [args: readonly string[], message: string])[] = [
    [['shop', 'EU!'], 'the name of a database is up to 32 of a to z, 0 to 9 and hyphens, and begins with a letter'],
    [['Shop', 'eu'], 'the box must be the name of a namespace: letters a to z, digits and hyphens, at most 63'],
    [['shop', 'eu', '--timeout', 'soon'], '--timeout must be a number of seconds above 0'],
    [['shop'], 'usage: boxctl box move <box> <database>'],
  ];
  for (const [args, message] of malformed)
    it(`does not understand ${args.join(' ')}`, async () => {
      expect(await move(...args)).to.deep.equal({ code: 2, output: '', messages: `boxctl: ${message}\n` });
    });

  it('says that there is no such namespace', async () => {
    const messages = 'boxctl: the cluster of the kube context has no namespace nowhere\n';
    expect(await move('nowhere', 'eu')).to.deep.equal({ code: 1, output: '', messages });
  });

  it('changes nothing in a namespace that has no Box to wait for', async () => {
    const { code, messages } = await move(box, 'eu');
    expect([code, messages]).to.deep.equal([
      1,
      `boxctl: the namespace ${box} has no Box, whose status tells when it has moved: declare one, or give --no-wait\n`,
    ]);
    expect(await wanted()).to.equal(undefined);
  });

  it('with --no-wait only names the database, also without a Box', async () => {
    const output = `The operator moves the box ${box} to the database eu.\n`;
    expect(await move(box, 'eu', '--no-wait')).to.deep.equal({ code: 0, output, messages: '' });
    expect(await wanted()).to.equal('eu');
  });

  it('ends after --timeout, and says that the operator goes on', async () => {
    await rig.put('Box', box, 'box', {});
    expect(await move(box, 'eu', '--timeout', '0.1')).to.deep.equal({
      code: 3,
      output: '',
      messages: `boxctl: waiting until the box ${box} is in the database eu\nboxctl: the box ${box} is not in the database eu after 0.1 seconds, and the operator goes on\n`,
    });
  });

  it('waits until the box is in the database, also once it was moved there and back', async () => {
    await rig.operator();
    await rig.put('Client', box, 'app', { grant_types: ['client_credentials'], secret });
    for (const database of ['eu', 'home', 'eu']) {
      expect(await move(box, database)).to.deep.equal({
        code: 0,
        output: `The box ${box} is in the database ${database}.\n`,
        messages: `boxctl: waiting until the box ${box} is in the database ${database}\n`,
      });
      await rig.ready('Client', box, 'app');
      expect(await rig.token(box, 'app', secret)).to.equal(200);
    }
  });

  it('says that there is no such database, in the words of the Box', async () => {
    const { code, messages } = await move(box, 'us');
    expect([code, messages]).to.deep.equal([
      1,
      `boxctl: waiting until the box ${box} is in the database us\nboxctl: There is no database us; the databases are home, eu. A cluster admin corrects the annotation boxgate.dev/database of the Namespace\n`,
    ]);
    expect((await move(box, 'home')).code).to.equal(0);
  });
});
