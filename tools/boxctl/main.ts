// `node tools/boxctl/main.ts <file>`: writes boxctl as one executable that needs no Node.js; `make boxctl` calls it.
import { buildSingleFile } from './build-single-file.ts';

const [file, ...more] = process.argv.slice(2);
if (file === undefined || more.length > 0) {
  process.stderr.write('Usage: node tools/boxctl/main.ts <file>\n');
  process.exitCode = 2;
} else {
  try {
    await buildSingleFile(file);
    process.stdout.write(`${file}; as the plugin of kubectl: put it on the PATH under the name kubectl-boxgate too\n`);
  } catch (error) {
    process.stderr.write(`boxctl: ${error instanceof Error ? error.message : 'unknown'}\n`);
    process.exitCode = 1;
  }
}
