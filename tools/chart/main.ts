// `make static`: writes the chart as one manifest, dist/boxgate.yaml, with the given values.
import { mkdirSync, writeFileSync } from 'node:fs';
import { staticInstallation } from './render.ts';

try {
  const manifests = await staticInstallation(process.argv.slice(2));
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/boxgate.yaml', manifests);
  process.stdout.write('dist/boxgate.yaml\n');
} catch (error) {
  process.stderr.write(`static: ${error instanceof Error ? error.message : 'unknown'}\n`);
  process.exitCode = 1;
}
