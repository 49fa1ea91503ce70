import { startControlPlane, type ControlPlane } from '../../../support/cluster/control-plane.ts';
import { eventually } from '../../../support/eventually.ts';
import { declaredRights, type Right } from './declared-rights.ts';
import { refusal, rightCases } from './right-cases.ts';
import { startRightsStage, type RightsScene, type RightsStage } from './rights-scene.ts';

describe('each right that the operator has', () => {
  let plane: ControlPlane;
  let stage: RightsStage;
  before(async () => {
    plane = await startControlPlane();
    stage = await startRightsStage(plane);
  });
  after(async () => {
    await stage.stop();
    await plane.stop();
  });

  for (const right of inOrder(declaredRights())) {
    const found = rightCases[right.name];
    if (found === undefined) continue;
    const { breaks, environment = {}, prepare, provoke, shows = saysSo(right), wanted } = found;
    it(`K-02: is needed: without ${right.name} ${breaks}`, async () => {
      const scene = await stage.scene(environment);
      await prepare?.(scene);
      await stage.without(right, scene, async () => {
        await provoke(scene);
        await eventually('the operator shows it', () => shows(scene), 60_000);
        await eventually('it does not work', async () => !(await wanted(scene)), 60_000);
      });
      await eventually('it works with the right', () => wanted(scene), 60_000);
    });
  }
});

/** Those that need settings of their own last: each change of settings costs a restart. */
function inOrder(rights: readonly Right[]): readonly Right[] {
  const isSpecial = ({ name }: Right): boolean => rightCases[name]?.environment !== undefined;
  return [...rights.filter((one) => !isSpecial(one)), ...rights.filter(isSpecial)];
}

function saysSo({ verb, resource }: Right) {
  return async (scene: RightsScene): Promise<boolean> => scene.said(refusal(verb, resource));
}
