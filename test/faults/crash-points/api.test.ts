import { expect } from 'chai';
import { freshDatabase } from '../../support/postgres.ts';
import { seededRandom } from '../../support/random.ts';
import { startRestartedApi } from './api-supply.ts';
import { apiStories } from './api-stories.ts';
import { countPlans } from './count-plans.ts';
import { playApiStory, type ApiRig } from './run-api-plan.ts';
import { createWriteLog, plansOf } from './write-log.ts';

describe('F-13 an API that ends at any of its writes', () => {
  const random = seededRandom();
  const count = countPlans(random);
  let rig: ApiRig;

  before(async () => {
    const [database, log] = [await freshDatabase(), createWriteLog()];
    rig = { database, log, api: await startRestartedApi(database, log) };
  });
  after(async () => {
    await rig.api.end();
    await rig.database.drop();
    count.report('writes of the API to Postgres');
  });

  for (const [name, story] of Object.entries(apiStories)) {
    it(`I1 I2 I5 I7 while ${name}: it is started again, and all is as it was acknowledged`, async function () {
      // Each wait in a plan has a limit; how long hundreds of plans take is a matter of the machine.
      this.timeout(0);
      const reference = await playApiStory(rig, story);
      expect(reference.violations, 'without any fault').to.deep.equal([]);
      const plans = count.some(plansOf(reference.writes));
      for (const plan of plans) {
        const { violations, isMet, rows } = await count.untilMet(plan, (one) => playApiStory(rig, story, one));
        const found = [...violations];
        if (JSON.stringify(rows) !== JSON.stringify(reference.rows)) {
          found.push(`I5 other rows than without a fault: ${JSON.stringify(rows)}, ${JSON.stringify(reference.rows)}`);
        }
        count.ran(`${name}: ${plan.write}, ${plan.way}`, isMet, found);
      }
      count.over(reference.writes.length);
    });
  }
});
