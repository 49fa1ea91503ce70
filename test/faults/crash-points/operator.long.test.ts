import { expect } from 'chai';
import { controlPlane } from '../../support/cluster/control-plane.ts';
import { installOperator } from '../../operator/install-operator.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { seededRandom } from '../../support/random.ts';
import { startRestartedApi } from './api-supply.ts';
import { clusterBox } from './cluster-box.ts';
import { countPlans } from './count-plans.ts';
import { createEpochWatch } from './epoch-watch.ts';
import { operatorStories } from './operator-stories.ts';
import { startRestartedOperator } from './operator-supply.ts';
import { playOperatorStory, type OperatorCrashRig } from './run-operator-plan.ts';
import { createWriteLog, plansOf, type Write } from './write-log.ts';

/** Sessions are the API's own stories, and the watch over the invariants gets some at any time. */
function isOfTheOperator({ what }: Write): boolean {
  return what !== 'SQL issue_sessions';
}

describe('F-13 an operator, or its API, that ends at any of its writes', () => {
  // The same few in each `npm test`: `make faults` is for all of them.
  const random = seededRandom(1);
  const count = countPlans(random);
  let rig: OperatorCrashRig;

  before(async () => {
    const [plane, database, log, epochs] = [
      await controlPlane(),
      await freshDatabase(),
      createWriteLog(),
      createEpochWatch(),
    ];
    const { access } = await installOperator(plane);
    const api = await startRestartedApi(database, log, isOfTheOperator);
    const operator = await startRestartedOperator({ plane, access, api, log, epochs });
    const anchor = clusterBox(plane, await plane.namespace('anchor'));
    rig = { plane, anchor, database, api, operator, log, epochs };
  });
  after(async () => {
    await rig.operator.end();
    await rig.api.end();
    await rig.database.drop();
    count.report('writes of the operator to the cluster and the API, and of the API to Postgres');
  });

  for (const [name, story] of Object.entries(operatorStories)) {
    it(`I1 I2 I5 I7 I8 I9 I10 I11 while ${name}: it is started again, and all comes to the same end`, async function () {
      // Each wait in a plan has a limit; how long hundreds of plans take is a matter of the machine.
      this.timeout(0);
      const reference = await playOperatorStory(rig, story);
      expect(reference.violations, 'without any fault').to.deep.equal([]);
      for (const plan of count.some(plansOf(reference.writes))) {
        const { isMet, violations } = await count.untilMet(plan, (one) =>
          playOperatorStory(rig, story, one, reference.end),
        );
        count.ran(`${name}: ${plan.write}, ${plan.way}`, isMet, violations);
      }
      count.over(reference.writes.length);
    });
  }
});
