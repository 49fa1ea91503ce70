// `make static`: writes deploy/boxgate.yaml from the chart.
import { writeFileSync } from 'node:fs';
import { staticInstallation } from './render.ts';

try {
  writeFileSync('deploy/boxgate.yaml', await staticInstallation());
} catch (error) {
  process.stderr.write(`static: ${error instanceof Error ? error.message : 'unknown'}\n`);
  process.exitCode = 1;
}
