import type { OperatorScenario } from '../scenario.ts';
import { changingNeighbour } from './changing-neighbour.ts';
import { createToToken } from './create-to-token.ts';
import { generatedSecrets } from './generated-secrets.ts';
import { largeNeighbour } from './large-neighbour.ts';
import { manyBoxes } from './many-boxes.ts';
import { quiet } from './quiet.ts';
import { realFlood } from './real-flood.ts';
import { scriptedFlood } from './scripted-flood.ts';
import { secretRefs } from './secret-refs.ts';
import { statuses } from './statuses.ts';
import { withoutSecrets } from './without-secrets.ts';

/** Every row, in the order of the table. */
export const scenarios: readonly OperatorScenario[] = [
  createToToken,
  withoutSecrets,
  generatedSecrets,
  secretRefs,
  manyBoxes,
  statuses,
  quiet,
  scriptedFlood,
  realFlood,
  largeNeighbour,
  changingNeighbour,
];
