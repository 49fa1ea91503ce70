import { expect } from 'chai';
import pg from 'pg';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { sendForm, sendJson, textOf } from '../../oauth/requests.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { machineClient } from '../declare.ts';
import { passRig, type PassRig } from '../pass-rig.ts';

/** A database that takes deletions and refuses what is to be written in their place, as a full disk does. */
const refuseWrites = `
CREATE OR REPLACE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'refused by the test' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON boxgate.resource FOR EACH ROW EXECUTE FUNCTION pg_temp.refuse()`;

describe('a change whose write fails', () => {
  const [first, second] = [generateClientSecret(), generateClientSecret()];
  const app = machineClient('app', { secret: first });
  let api: TestApi;
  let owner: pg.Client;
  let rig: PassRig;
  let box: string;
  let boxes = 0;
  before(async () => {
    api = await startApi();
    // One session: the function is its own.
    owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
  });
  after(async () => {
    await owner.end();
    await api.stop();
  });
  beforeEach(async () => {
    boxes += 1;
    box = `box-${String(boxes)}`;
    rig = await passRig(api, box);
    await rig.pass([app]);
  });

  const at = (path: string): string => `${api.url}/boxes/${box}${path}`;

  async function newToken(): Promise<string> {
    const body = { grant_type: 'client_credentials', client_id: 'app', client_secret: first };
    return textOf(await sendJson(at('/auth/token'), body), 'access_token');
  }

  async function isActive(token: string, secret: string): Promise<unknown> {
    const fields = { token, client_id: 'app', client_secret: secret };
    return (await sendForm(at('/auth/introspect'), fields)).body['active'];
  }

  const changes = {
    'an edit': machineClient('app', { secret: second }),
    'another object that has the id now': machineClient('renamed', { id: 'app', secret: second }),
  };
  for (const [what, changed] of Object.entries(changes)) {
    it(`peer defect 3: ${what} leaves the client as it was, with its tokens, until it can be written`, async () => {
      const token = await newToken();
      const after = { ...changed, resourceVersion: '2' };
      await owner.query(refuseWrites);
      try {
        for (let tries = 0; tries < 3; tries += 1) {
          const error: unknown = await rig.pass([after]).catch((thrown: unknown) => thrown);
          expect(error).to.be.instanceOf(Error);
          expect([await rig.token('app', first), await rig.token('app', second)]).to.deep.equal([200, 401]);
          expect(await isActive(token, first)).to.equal(true);
          expect(rig.condition(after.key)).to.equal('False/Unavailable');
        }
      } finally {
        await owner.query('DROP TRIGGER refuse ON boxgate.resource');
      }
      await rig.pass([after]);
      expect([await rig.token('app', first), await rig.token('app', second)]).to.deep.equal([401, 200]);
      expect(rig.condition(after.key)).to.equal('True/Ready');
    });
  }

  it('peer defect 3: while it is updated fifty times a client is never away', async () => {
    rig.calls.length = 0;
    const answers = new Set<number>();
    let isOver = false;
    const application = async (): Promise<void> => {
      while (!isOver) answers.add(await rig.token('app', first));
    };
    const asking = [application(), application()];
    for (let nth = 2; nth < 52; nth += 1) {
      const edited = machineClient('app', { secret: first, name: `Edit ${String(nth)}` });
      await rig.pass([{ ...edited, resourceVersion: String(nth), generation: nth }]);
    }
    isOver = true;
    await Promise.all(asking);
    expect([...answers]).to.deep.equal([200]);
    expect(rig.calls).to.have.length(50);
  });
});
