import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { joinInstallation } from '../../../api/db/core/installation.ts';
import { eventually } from '../../support/eventually.ts';
import { ownerQuery } from '../../support/owner-query.ts';
import { asOwner, freshDatabase, type TestDatabase } from '../../support/postgres.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

describe('the database that a Namespace wants for its box', () => {
  let rig: OperatorRig;
  let eu: TestDatabase;

  before(async () => {
    const [home, other] = await Promise.all([freshDatabase(), freshDatabase()]);
    eu = other;
    await joinInstallation([
      { name: 'home', ownerUrl: home.ownerUrl },
      { name: 'eu', ownerUrl: eu.ownerUrl },
    ]);
    const environment = { BOXGATE_DATABASES: 'home,eu', BOXGATE_DATABASE_URL_EU: eu.apiUrl };
    rig = await startOperatorRig(undefined, false, { home, environment });
    await rig.operator();
  });
  after(async () => {
    await rig.stop();
    await eu.drop();
  });

  const secret = 's'.repeat(32);

  /** Creates a namespace that wants a database (if any), with a Box and a client. */
  async function boxIn(database?: string): Promise<string> {
    const box = await rig.box();
    if (database !== undefined) await want(box, database);
    await rig.put('Box', box, 'box', {});
    await rig.put('Client', box, 'app', { grant_types: ['client_credentials'], secret });
    return box;
  }

  const want = (box: string, database: string): Promise<void> => annotate(box, 'boxgate.dev/database', database);

  async function annotate(box: string, name: string, value: string): Promise<void> {
    const body = { metadata: { annotations: { [name]: value } } };
    const path = `/api/v1/namespaces/${box}`;
    const { status } = await rig.plane.call({
      method: 'PATCH',
      path,
      body,
      contentType: 'application/merge-patch+json',
    });
    expect(status).to.equal(200);
  }

  async function statusOf(box: string): Promise<Readonly<Record<string, unknown>>> {
    const status = (await rig.find('Box', box, 'box'))?.['status'];
    return isObject(status) ? status : {};
  }

  const isIn = (box: string, database: string): Promise<void> =>
    eventually(`${box} is in ${database}`, async () => (await statusOf(box))['database'] === database);

  const says = (box: string, expected: string): Promise<void> =>
    eventually(`the Box of ${box} says ${expected}`, async () => {
      return (await rig.condition('Box', box, 'box', 'Valid')) === expected;
    });

  it('has the box from the beginning, or the default one if none is wanted', async () => {
    const [far, near] = [await boxIn('eu'), await boxIn()];
    for (const box of [far, near]) await rig.ready('Client', box, 'app');
    await isIn(far, 'eu');
    await isIn(near, 'home');
    for (const box of [far, near]) expect(await rig.token(box, 'app', secret)).to.equal(200);
  });

  it('gets the box when it is changed, with all that the box serves', async () => {
    const box = await boxIn('home');
    await rig.ready('Client', box, 'app');
    await isIn(box, 'home');
    for (const database of ['eu', 'home']) {
      await want(box, database);
      await isIn(box, database);
      await eventually('nothing is moved any more', async () => {
        return (await rig.condition('Box', box, 'box', 'NotInForce')) === 'undefined/undefined';
      });
      expect(await rig.token(box, 'app', secret)).to.equal(200);
      await rig.put('Client', box, 'app', { grant_types: ['client_credentials'], secret: `${secret}${database}` });
      await eventually('it takes changes', async () => (await rig.token(box, 'app', `${secret}${database}`)) === 200);
      await rig.put('Client', box, 'app', { grant_types: ['client_credentials'], secret });
      await eventually('it takes changes', async () => (await rig.token(box, 'app', secret)) === 200);
    }
  });

  it('gets the box once it is there; until then the box is served where it is, and says so', async () => {
    const box = await boxIn('home');
    await rig.ready('Client', box, 'app');
    const name = new URL(eu.ownerUrl).pathname.slice(1);
    await asOwner('postgres', async (client) => {
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    });
    try {
      await want(box, 'eu');
      await eventually('it says so', async () => {
        return (await rig.condition('Box', box, 'box', 'NotInForce')) === 'True/Moving';
      });
      const text = 'the box is still in the database home, and is being moved to eu';
      expect(JSON.stringify(await statusOf(box))).to.contain(text);
      for (const kind of ['Box', 'Client'] as const) {
        expect(await rig.condition(kind, box, kind === 'Box' ? 'box' : 'app')).to.equal('True/Ready');
      }
      expect(await rig.token(box, 'app', secret)).to.equal(200);
    } finally {
      await asOwner('postgres', (client) => client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`));
    }
    await isIn(box, 'eu');
    expect(await rig.token(box, 'app', secret)).to.equal(200);
  });

  const wrong = [
    ['us', 'There is no database us; the databases are home, eu'],
    ['EU!', 'is not the name of a database: "EU!"; a name is up to 32 of a to z, 0 to 9 and hyphens'],
  ] as const;
  for (const [name, sentence] of wrong) {
    it(`is told as wrong if it is ${name}, and nothing is applied until it is corrected`, async () => {
      const box = await boxIn(name);
      await says(box, 'False/DatabaseUnknown');
      const client = async () => rig.condition('Client', box, 'app', 'Synced');
      await eventually('the client says so', async () => (await client()) === 'False/DatabaseUnknown');
      expect(await rig.condition('Client', box, 'app', 'Valid')).to.equal('True/Accepted');
      for (const kind of ['Box', 'Client'] as const) {
        const object = await rig.find(kind, box, kind === 'Box' ? 'box' : 'app');
        expect(JSON.stringify(object?.['status']).replaceAll('\\"', '"')).to.contain(sentence);
      }
      expect(await rig.token(box, 'app', secret)).to.equal(404);
      await want(box, 'eu');
      await rig.ready('Client', box, 'app');
      await says(box, 'True/Accepted');
      await isIn(box, 'eu');
    });

    it(`leaves a box where it is and serves it, while it is changed to ${name}`, async () => {
      const box = await boxIn('home');
      await rig.ready('Client', box, 'app');
      await want(box, name);
      await says(box, 'False/DatabaseUnknown');
      expect(await rig.condition('Client', box, 'app')).to.equal('True/Ready');
      expect(await rig.token(box, 'app', secret)).to.equal(200);
      await rig.remove('Client', box, 'app');
      await eventually('a deletion has effect', async () => (await rig.token(box, 'app', secret)) === 401);
      await want(box, 'home');
      await says(box, 'True/Accepted');
      await isIn(box, 'home');
    });
  }

  it('is told by every object of its boxes once it was restored from a backup, until an admin accepts what is left', async () => {
    const box = await boxIn('eu');
    await rig.ready('Client', box, 'app');
    // A backup has an older beat than the home database knows.
    await ownerQuery({ database: eu }, 'UPDATE boxgate.identity SET beat = beat - 3600000000', []);
    await eventually('the box is refused', async () => (await rig.token(box, 'app', secret)) === 503);
    await rig.put('Client', box, 'later', { grant_types: ['client_credentials'], secret });
    for (const [kind, name] of [
      ['Box', 'box'],
      ['Client', 'app'],
      ['Client', 'later'],
    ] as const) {
      const condition = async () => rig.condition(kind, box, name);
      await eventually(`${name} says so`, async () => (await condition()) === 'False/DataMissing');
    }
    expect(await rig.condition('Box', box, 'box', 'Valid')).to.equal('True/Accepted');
    const [, version = ''] = /has the version (\d+): restore/.exec(JSON.stringify(await statusOf(box))) ?? [];
    await annotate(box, 'boxgate.dev/accept-data-loss', version);
    for (const name of ['app', 'later']) await rig.ready('Client', box, name);
    expect(await rig.token(box, 'later', secret)).to.equal(200);
  });
});
