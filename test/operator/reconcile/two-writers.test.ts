import { expect } from 'chai';
import pg from 'pg';
import { sendJson, textOf } from '../../oauth/requests.ts';
import { eventually } from '../../support/eventually.ts';
import { startOperatorRig, type OperatorRig } from '../operator-rig.ts';

const rounds = 12;

/** Notes every write of a row, whoever makes it. */
const witness = `
CREATE SCHEMA witness;
CREATE TABLE witness.write (id text NOT NULL, version bigint NOT NULL);
CREATE FUNCTION witness.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$ BEGIN INSERT INTO witness.write VALUES (COALESCE(NEW.id, OLD.id), COALESCE(NEW.version, 0)); RETURN NULL; END $$;
CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON boxgate.resource FOR EACH ROW EXECUTE FUNCTION witness.note()`;

const machine = { grant_types: ['client_credentials'] };

describe('a client that is written over REST and declared at the same time', () => {
  let rig: OperatorRig;
  let owner: pg.Pool;
  let box: string;
  before(async () => {
    rig = await startOperatorRig();
    await rig.operator({ BOXGATE_SWEEP_SECONDS: '1' });
    owner = new pg.Pool({ connectionString: rig.database.ownerUrl, max: 1 });
    await owner.query(witness);
    box = await rig.box();
    await rig.put('Client', box, 'admin', { ...machine, secret: 'of-the-admin' });
    await rig.put('AccessPolicy', box, 'admin', { engine: 'allow', link: [{ reference: 'Client/admin' }] });
    await rig.ready('AccessPolicy', box, 'admin', 60_000);
    await rig.ready('Client', box, 'admin', 60_000);
  });
  after(async () => {
    await owner.end();
    await rig.stop();
  });

  it('C-08: has one owner, which the other side is told, and is written at most twice', async () => {
    const credentials = { grant_type: 'client_credentials', client_id: 'admin', client_secret: 'of-the-admin' };
    const token = textOf(await sendJson(`${rig.api.url}/boxes/${box}/auth/token`, credentials), 'access_token');
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ ...machine, secret: 'over-rest' });
    const put = (id: string): Promise<Response> =>
      fetch(`${rig.api.url}/boxes/${box}/Client/${id}`, { method: 'PUT', headers, body });
    const verdicts = new Map<string, string>();
    for (let round = 0; round < rounds; round += 1) {
      const id = `both-${String(round)}`;
      const declare = async (): Promise<void> => {
        await rig.put('Client', box, id, { ...machine, secret: 'declared' });
        // The last time it is first for sure.
        if (round === rounds - 1) await rig.ready('Client', box, id);
      };
      const rest = (): Promise<number> => put(id).then(({ status }) => status);
      // By turns one of them is a little ahead.
      const [status] = round % 2 === 0 ? await Promise.all([rest(), declare()]) : [await declare().then(() => rest())];
      await eventually('it has a verdict', async () =>
        /^(True|False)\/(Ready|OwnedByAnother)$/.test(await rig.condition('Client', box, id)),
      );
      const condition = await rig.condition('Client', box, id);
      const isDeclared = condition === 'True/Ready';
      verdicts.set(id, condition);
      expect(await writes(id), 'one side writes, the other is refused').to.equal(1);
      expect(status, condition).to.be.oneOf(isDeclared ? [409] : [200, 201]);
      expect((await put(id)).status).to.equal(isDeclared ? 409 : 200);
      expect(await rig.token(box, id, isDeclared ? 'declared' : 'over-rest')).to.equal(200);
      expect(await rig.token(box, id, isDeclared ? 'over-rest' : 'declared')).to.equal(401);
    }
    // Some sweeps later nobody has written anything: neither side takes it from the other.
    await rig.put('Client', box, 'later', { ...machine, secret: 'x' });
    await rig.ready('Client', box, 'later');
    await rig.remove('Client', box, 'later');
    await eventually('that is gone', async () => (await rig.token(box, 'later', 'x')) === 401);
    for (const [id, condition] of verdicts) {
      // Where REST was first it has written once more, when this test asked again.
      expect(await writes(id), `${id}: ${condition}`).to.equal(condition === 'True/Ready' ? 1 : 2);
    }
    expect([...verdicts.values()]).to.include('True/Ready');
  });

  async function writes(id: string): Promise<number> {
    const { rows } = await owner.query<{ count: number }>(
      'SELECT count(DISTINCT version)::integer AS count FROM witness.write WHERE id = $1',
      [id],
    );
    return rows[0]?.count ?? 0;
  }
});
