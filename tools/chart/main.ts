// `make static`: writes deploy/boxgate.yaml from the chart.
import { writeFileSync } from 'node:fs';
import { staticInstallation } from './render.ts';

writeFileSync('deploy/boxgate.yaml', await staticInstallation());
