import { expect } from 'chai';
import { bumpVersion } from '../../../api/db/box/box.ts';
import { storeResources } from '../../../api/db/resource/store.ts';
import {
  pinServiceAccount,
  readPins,
  repinServiceAccount,
  storeSeen,
} from '../../../api/db/client-auth/service-account-pin.ts';
import type { SeenEntry } from '../../../api/db/client-auth/service-account-pin.ts';
import { boxDatabase } from '../../records/box-database.ts';
import type { BoxDatabase } from '../../records/box-database.ts';

const entry = { client: 'app', namespace: 'shop', name: 'orders' } as const;
const key = { box: 'default', ...entry };

/** A state of the one entry before the cluster tells something of it, and after. */
interface Case {
  /** The uid that the stored entry names. */
  readonly named?: string;
  /** The uid that the entry is pinned to. */
  readonly pinned?: string;
  /** The pinned one was told to be gone before. */
  readonly wasGone?: true;
  readonly cluster?: string;
  readonly told: readonly Pick<SeenEntry, 'uid' | 'declared'>[];
  readonly pin: string;
  readonly lost?: true;
}

const cases: Readonly<Record<string, Case>> = {
  'a pinned ServiceAccount that is there': { pinned: 'one', told: [{ uid: 'one' }], pin: 'one' },
  'a pinned one that is missing': { pinned: 'one', told: [{ uid: null }], pin: 'one, gone', lost: true },
  'a pinned one that was created again': { pinned: 'one', told: [{ uid: 'two' }], pin: 'one, gone', lost: true },
  'a pinned one that is still missing': { pinned: 'one', wasGone: true, told: [{ uid: null }], pin: 'one, gone' },
  'a pinned one that is there again': { pinned: 'one', wasGone: true, told: [{ uid: 'one' }], pin: 'one' },
  'nothing pinned': { told: [{ uid: null }], pin: '' },
  'a named one that is there, before its first token': {
    named: 'one',
    told: [{ uid: 'one', declared: 'one' }],
    pin: '',
  },
  'a named one that is missing': { named: 'one', told: [{ uid: null, declared: 'one' }], pin: 'one, gone' },
  'a named one, with another of its name': { named: 'one', told: [{ uid: 'two', declared: 'one' }], pin: 'one, gone' },
  'a named one that is missing, told twice at once': {
    named: 'one',
    told: [
      { uid: null, declared: 'one' },
      { uid: null, declared: 'one' },
    ],
    pin: 'one, gone',
  },
  'a named one that had got a token': {
    named: 'one',
    pinned: 'one',
    told: [{ uid: null, declared: 'one' }],
    pin: 'one, gone',
    lost: true,
  },
  'a named one that is missing, instead of one that is there': {
    named: 'two',
    pinned: 'one',
    told: [{ uid: 'one', declared: 'two' }],
    pin: 'two, gone',
    lost: true,
  },
  'a named one that is missing, instead of one that was gone': {
    named: 'two',
    pinned: 'one',
    wasGone: true,
    told: [{ uid: null, declared: 'two' }],
    pin: 'two, gone',
  },
  'a named one that is there, instead of one that was gone': {
    named: 'two',
    pinned: 'one',
    wasGone: true,
    told: [{ uid: 'two', declared: 'two' }],
    pin: 'one, gone',
  },
  'a missing one that the stored entry does not name': {
    named: 'one',
    told: [{ uid: null, declared: 'two' }],
    pin: '',
  },
  'a missing one that the stored entry names no longer': { told: [{ uid: null, declared: 'one' }], pin: '' },
  'a missing one that the stored entry does not name, of a pinned one that is there': {
    pinned: 'one',
    told: [{ uid: 'one', declared: 'two' }],
    pin: 'one',
  },
  'a missing one of a client of another cluster': {
    named: 'one',
    cluster: 'other',
    told: [{ uid: null, declared: 'one' }],
    pin: '',
  },
};

describe('storeSeen', () => {
  let database: BoxDatabase;
  before(async () => {
    database = await boxDatabase();
  });
  afterEach(() => database.owner.query('DELETE FROM boxgate.resource'));
  after(() => database.end());

  /** Stores a client with the one entry. */
  function store(named: string | undefined): Promise<void> {
    const account = { namespace: 'shop', name: 'orders', ...(named === undefined ? {} : { uid: named }) };
    const body = { resourceType: 'Client', id: 'app', grant_types: [], service_accounts: [account] };
    const owner = { cluster: 'one', name: 'default/app', uid: 'uid-of-app' };
    return database.write(async (connection) => {
      const version = await bumpVersion(connection, 'default');
      const written = { kind: 'Client', id: 'app', body, secrets: undefined, owner, digest: undefined } as const;
      await storeResources(connection, 'default', version, [written]);
    });
  }

  async function pin(): Promise<string> {
    const pins = await database.read((connection) => readPins(connection, 'default', 'one'));
    return pins.map(({ uid, gone }) => `${uid}${gone ? ', gone' : ''}`).join('; ');
  }

  const tell = (told: Case['told'], cluster = 'one'): Promise<readonly string[]> =>
    database.write((connection) =>
      storeSeen(
        connection,
        'default',
        cluster,
        told.map((one) => ({ ...entry, ...one })),
      ),
    );

  for (const [title, { named, pinned, wasGone, cluster, told, pin: expected, lost }] of Object.entries(cases)) {
    it(`R-54 is told of ${title}: ${expected === '' ? 'no pin' : `pin ${expected}`}`, async () => {
      await store(named);
      if (pinned !== undefined) await database.write((connection) => pinServiceAccount(connection, key, pinned));
      if (wasGone === true) await database.owner.query('UPDATE boxgate.service_account_pin SET gone_at = now()');
      expect(await tell(told, cluster)).to.deep.equal(lost === true ? ['app'] : []);
      expect(await pin()).to.equal(expected);
    });
  }

  it('R-54 is not undone by a token request that had read the pin before', async () => {
    await store('one');
    await tell([{ uid: null, declared: 'one' }]);
    expect(await database.write((connection) => repinServiceAccount(connection, key, 'one'))).to.equal(true);
    expect(await pin()).to.equal('one, gone');
    expect(await database.write((connection) => repinServiceAccount(connection, key, 'two'))).to.equal(false);
    expect(await pin()).to.equal('two');
  });
});
