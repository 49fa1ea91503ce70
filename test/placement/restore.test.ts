import { expect } from 'chai';
import { raiseBeat } from '../../api/db/core/beats.ts';
import { rebuildDirectory } from '../../api/db/core/installation.ts';
import { createPool, defaultLimits } from '../../api/db/core/pool.ts';
import { requestLimit, withConnection } from '../../api/db/core/with-connection.ts';
import { createRestores } from '../../api/placement/restores.ts';
import { createLog } from '../../program/log.ts';
import { eventually } from '../support/eventually.ts';
import { asOwner } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { ownerQuery } from '../support/owner-query.ts';
import { twoDatabases } from './two-databases.ts';
import type { TwoDatabases } from './two-databases.ts';

const nameOf = ({ apiUrl }: TestDatabase): string => new URL(apiUrl).pathname.slice(1);

/** Makes a backup of a database that nobody is connected to. */
const backUp = (database: TestDatabase): Promise<void> =>
  asOwner('postgres', async (client) => {
    await client.query(`CREATE DATABASE ${nameOf(database)}_backup TEMPLATE ${nameOf(database)} STRATEGY FILE_COPY`);
  });

/** Puts the backup in the place of a database, whoever is connected. */
const restore = (database: TestDatabase): Promise<void> =>
  asOwner('postgres', async (client) => {
    await client.query(`DROP DATABASE ${nameOf(database)} WITH (FORCE)`);
    await client.query(`ALTER DATABASE ${nameOf(database)}_backup RENAME TO ${nameOf(database)}`);
  });

/** Head of a declaration by a Namespace with the annotation `boxgate.dev/accept-data-loss`. */
const accepting = (version: number) => ({ namespace: { uid: 'uid', accept_data_loss: version } });

describe('a database that is restored from a backup', () => {
  let both: TwoDatabases;

  beforeEach(async () => {
    both = await twoDatabases();
  });
  afterEach(() => both.end());

  /** Waits until the home database has entered a beat of eu that is newer than that of the backup. */
  async function nextBeat(): Promise<void> {
    const beat = async (): Promise<unknown> => {
      const text = 'SELECT beat FROM boxgate.database WHERE name = $1';
      return (await ownerQuery({ database: both.home }, text, ['eu']))[0]?.['beat'];
    };
    const before = await beat();
    await eventually('the home database has a newer beat', async () => (await beat()) !== before);
  }

  it('is not one whose beat another replica has raised since this one looked', async () => {
    const open = (name: 'home' | 'eu') => ({
      name,
      pool: createPool(both[name].apiUrl, defaultLimits, 'api', () => undefined),
    });
    const [home, eu] = [open('home'), open('eu')];
    const lines: unknown[] = [];
    const restores = createRestores([home, eu], createLog('info', { write: (line) => lines.push(line) }));
    await restores.check();
    await raiseBeat(home.pool, 'eu', eu.pool, 2 * 1_000 * Date.now());
    await withConnection(eu.pool, requestLimit, (connection) => restores.verify('eu', connection));
    expect([restores.at('home'), restores.at('eu'), lines]).to.deep.equal([0, 0, []]);
    await Promise.all([home.pool.end(), eu.pool.end()]);
  });

  it('serves none of its boxes until an admin accepts the loss of each: what was issued before is revoked', async () => {
    await both.declare('kept', { database: 'eu' });
    await both.declare('near');
    const token = await both.issued('kept');
    await nextBeat();
    await both.restart(() => backUp(both.eu));
    await both.declare('newer', { database: 'eu' });
    await nextBeat();
    await restore(both.eu);
    for (const box of ['kept', 'newer']) {
      await eventually(`${box} is refused`, async () => (await (await both.token(box)).text()).includes('DataMissing'));
      expect((await both.token(box)).status).to.equal(503);
      expect((await both.introspect(box, token)).status).to.equal(503);
    }
    expect((await both.token('near')).status).to.equal(200);

    const refused = await both.declare('kept');
    expect(refused).to.include({ code: 'data-missing' });
    const [, version] = /version (\d+)/.exec(String(refused['error'])) ?? [];
    expect(await both.declare('kept', accepting(Number(version) + 1))).to.include({ code: 'data-missing' });
    expect(await both.move('kept', 'home')).to.include({ code: 'data-missing' });
    expect(await both.declare('kept', accepting(Number(version)))).to.include({ database: 'eu' });
    expect(await (await both.introspect('kept', token)).json()).to.deep.equal({ active: false });
    expect(await (await both.introspect('kept', await both.issued('kept'))).json()).to.include({ active: true });

    expect(await both.declare('newer')).to.include({ code: 'data-missing' });
    expect(await both.declare('newer', accepting(0))).to.include({ database: 'eu' });
    expect((await both.token('newer')).status).to.equal(200);
    expect(await both.declare('after', { database: 'eu' })).to.include({ database: 'eu' });
  });

  it('is home: boxes elsewhere go on, its own wait, and the directory is made again from the others', async () => {
    await both.declare('moved');
    await nextBeat();
    await both.restart(() => backUp(both.home));
    await both.declare('far', { database: 'eu' });
    await both.move('moved', 'eu');
    const token = await both.issued('moved');
    await nextBeat();
    await both.restart(async () => {
      await restore(both.home);
      const named = { home: both.home, eu: both.eu };
      await rebuildDirectory(Object.entries(named).map(([name, { ownerUrl }]) => ({ name, ownerUrl })));
    });
    for (const box of ['moved', 'far']) expect((await both.token(box)).status, box).to.equal(200);
    expect(await (await both.introspect('moved', token)).json()).to.include({ active: true });
    expect(await both.declare('moved')).to.include({ database: 'eu' });
  });
});
