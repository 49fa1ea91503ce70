import { isObject } from '../../../crds/path.ts';
import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { KINDS } from '../../../crds/kind.ts';
import { eventually } from '../../support/eventually.ts';
import { seededRandom } from '../../support/random.ts';
import { startProcessRig, type ProcessRig } from '../operator-rig.ts';
import { stepsByChance, stepsInOrder, type Step } from './order-steps.ts';

/** `make orders` plays a hundred. */
const orders = Number(process.env['BOXGATE_ORDERS'] ?? 10);
const atOnce = 3;

describe('the same objects in any order', () => {
  let rig: ProcessRig;
  let owner: pg.Pool;
  before(async () => {
    rig = await startProcessRig();
    await rig.operatorProcess();
    owner = new pg.Pool({ connectionString: rig.database.ownerUrl, max: 2 });
  });
  after(async () => {
    await owner.end();
    await rig.stop();
  });

  it(`end in the same rows and statuses, in ${String(orders)} orders of chance, with pauses, edits and deletions`, async function () {
    this.timeout(60_000 + orders * 20_000);
    const random = seededRandom();
    const reference = await rig.box();
    for (const step of stepsInOrder()) await play(reference, step);
    await eventually('the one in order has ended', async () => (await unfinished(reference)).length === 0, 60_000);
    const owners = (await outcome(reference)).flatMap((one) =>
      'row' in one && 'of' in one ? [`${String(one.row)} ${String(one.of)}`] : [],
    );
    expect(owners).to.include.members(['Client/passed-on <box>/second', 'AccessPolicy/broken <box>/broken']);
    expect(owners).to.have.length(15);

    const plans = Array.from({ length: orders }, () => {
      const steps = stepsByChance(random);
      return { steps, pauses: steps.map(() => (random.below(4) === 0 ? random.below(120) : 0)) };
    });
    const queue = plans.entries();
    const lane = async (): Promise<void> => {
      for (const [nth, { steps, pauses }] of queue) {
        const box = await rig.box();
        for (const [place, step] of steps.entries()) {
          await sleep(pauses[place] ?? 0);
          await play(box, step);
        }
        const which = `order ${String(nth)} of BOXGATE_SEED=${String(random.seed)}`;
        let [found, expected]: (readonly object[])[] = [];
        // Of the first one too the last statuses may still be on their way.
        const isSame = async (): Promise<boolean> => {
          [found, expected] = await Promise.all([outcome(box), outcome(reference)]);
          return JSON.stringify(found) === JSON.stringify(expected);
        };
        await eventually(which, isSame, 60_000).catch(() => undefined);
        expect(found, which).to.deep.equal(expected);
        await empty(box);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
  });

  async function play(box: string, { kind, name, spec }: Step): Promise<void> {
    if (spec !== undefined) return rig.put(kind, box, name, spec);
    await rig.remove(kind, box, name);
    // The next step may make it again.
    await eventually(`${name} is gone`, async () => (await rig.find(kind, box, name)) === undefined);
  }

  async function empty(box: string): Promise<void> {
    for (const { kind, name } of stepsInOrder()) await rig.remove(kind, box, name);
  }

  async function objects(box: string): Promise<readonly Record<string, unknown>[]> {
    const lists = Object.values(KINDS).map(async ({ plural }) => {
      const { body } = await rig.plane.call({ path: `/apis/boxgate.dev/v1/namespaces/${box}/${plural}` });
      return isObject(body) && Array.isArray(body['items']) ? body['items'].filter(isObject) : [];
    });
    return (await Promise.all(lists)).flat();
  }

  /** Names of objects whose status is about an older generation, or still to be applied. */
  async function unfinished(box: string): Promise<readonly string[]> {
    return (await objects(box)).flatMap(({ metadata, status }) => {
      const [meta, now] = [isObject(metadata) ? metadata : {}, isObject(status) ? status : {}];
      const isPending = JSON.stringify(now).includes('not applied yet');
      return now['observedGeneration'] === meta['generation'] && !isPending ? [] : [String(meta['name'])];
    });
  }

  /** Returns the final state, without values that differ from box to box: names, uids, times, versions, salts. */
  async function outcome(box: string): Promise<readonly object[]> {
    const { rows } = await owner.query<{ row: string }>(
      `SELECT kind || '/' || id AS row, owner_name AS "of", body, revoked_before, retain, cardinality(secrets) AS secrets,
              CASE WHEN kind = 'Box' THEN NULL ELSE digest END AS digest
         FROM boxgate.resource WHERE box = $1 ORDER BY kind, id`,
      [box],
    );
    const statuses = (await objects(box)).map(({ kind, metadata, status, spec }) => {
      const { name, generation, finalizers } = isObject(metadata) ? metadata : {};
      const { observedGeneration, conditions, ...fields } = isObject(status) ? status : {};
      const all = Array.isArray(conditions) ? conditions.filter(isObject) : [];
      return {
        status: `${String(kind)}/${String(name)}`,
        isSeen: observedGeneration === generation,
        finalizers,
        spec,
        fields,
        conditions: all.map(({ lastTransitionTime: _at, observedGeneration: about, ...condition }) => ({
          ...condition,
          isAboutThis: about === generation,
        })),
      };
    });
    const text = JSON.stringify([...rows, ...statuses]).replaceAll(box, '<box>');
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter(isObject) : [];
  }
});
