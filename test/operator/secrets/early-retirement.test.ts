import { expect } from 'chai';
import pg from 'pg';
import type { Declared } from '../../../operator/desired/declared.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts';
import { machineClient } from '../declare.ts';
import { passRig, type PassRig } from '../pass-rig.ts';

const minute = 60_000;

/**
 * Tests with two clocks: the API records uses by its own clock, and the test sets the time of each pass. A secret
 * rotates in the past, and half of its overlap is over or not when the passes continue.
 */
describe('a secret that has made place for the next one', () => {
  let database: TestDatabase;
  let api: TestApi;
  let owner: pg.Pool;
  let rig: PassRig;
  let client: Declared;
  let start: number;
  let [old, fresh] = ['', ''];
  beforeEach(async () => {
    database = await freshDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl });
    api = await startApi({ database });
    rig = await passRig(api, 'shop');
    start = Date.now();
  });
  afterEach(async () => {
    await api.stop();
    await owner.end();
    await database.drop();
  });

  /** Passes at a number of minutes from now on, or before now; a change of the secret takes a few. */
  async function passes(minutes: number): Promise<void> {
    rig.now = new Date(start + minutes * minute);
    for (let step = 0; step < 4; step += 1) await rig.pass([client], 'everything');
  }

  /** The secret has rotated forty minutes ago; the old one is valid for an hour and a half beside it. */
  async function rotated(): Promise<void> {
    const at = new Date(start - 50 * minute).toISOString();
    client = machineClient('app', { rotation: { at, overlap: '90m' } });
    await passes(-24 * 60);
    old = kept()?.value.reveal() ?? '';
    await passes(-40);
    fresh = kept()?.value.reveal() ?? '';
    expect(kept()?.previous?.value?.reveal()).to.equal(old);
  }

  const kept = () => rig.keeper.kept.get('app');

  /** Gets a token with each of these; what a replica has noted of that is written when it stops. */
  async function used(...secrets: readonly string[]): Promise<void> {
    for (const secret of secrets) expect(await rig.token('app', secret)).to.equal(200);
    await api.stop();
    api = await startApi({ database });
    rig = await passRig(api, 'shop', rig);
  }

  function shownUse(): string | undefined {
    const columns = rig.source.statuses.get('Client/app')?.columns;
    return columns?.kind === 'Client' ? columns.usage?.previous_secret_last_used : undefined;
  }

  const cases: [title: string, use: () => Promise<unknown>, stays: number, retires: number][] = [
    ['at half of its overlap where only the new one is used', () => used(fresh), -3, 6],
    ['at its end where the new one is not used', () => used(), 49, 51],
    ['at its end where the old one is still used', () => used(fresh, old), 49, 51],
    [
      'half of its overlap after its last use',
      async () => {
        await used(fresh, old);
        await owner.query(`UPDATE boxgate.client_usage SET previous_used_at = now() - interval '20 minutes'`);
      },
      18,
      27,
    ],
  ];
  for (const [title, use, stays, retires] of cases) {
    it(`retires ${title}`, async () => {
      await rotated();
      await use();
      await passes(stays);
      expect(kept()?.previous?.value?.reveal()).to.equal(old);
      await passes(retires);
      expect(kept()).to.not.have.property('previous');
      expect([await rig.token('app', old), await rig.token('app', fresh)]).to.deep.equal([401, 200]);
    });
  }

  it('shows in the status of its client when it was last used, as long as it is valid', async () => {
    await rotated();
    await passes(-3);
    expect(shownUse()).to.equal(undefined);
    await used(old);
    await passes(6);
    expect(Date.parse(shownUse() ?? '')).to.be.within(start, Date.now());
    await passes(51);
    expect(shownUse()).to.equal(undefined);
  });
});
