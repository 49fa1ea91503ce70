// `node tools/image/main.ts <folder>`: writes the files of the image into a new folder; the Dockerfile calls it. With
// --without-packages it replaces the folder, and the packages of `dependencies` are left out, as npm pack wants it.
import { rmSync } from 'node:fs';
import { writeFiles, writeProgram } from './write-files.ts';

const [folder, option, ...more] = process.argv.slice(2);
if (folder === undefined || (option ?? '--without-packages') !== '--without-packages' || more.length > 0) {
  process.stderr.write('Usage: node tools/image/main.ts <new folder> [--without-packages]\n');
  process.exitCode = 2;
} else {
  try {
    if (option === undefined) await writeFiles(process.cwd(), folder);
    else {
      rmSync(folder, { recursive: true, force: true });
      await writeProgram(process.cwd(), folder);
    }
  } catch (error) {
    process.stderr.write(`image: ${error instanceof Error ? error.message : 'unknown'}\n`);
    process.exitCode = 1;
  }
}
