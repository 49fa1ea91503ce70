// `node tools/image/main.ts <folder>`: writes the files of the image into a new folder; the Dockerfile calls it.
import { writeFiles } from './write-files.ts';

const [folder, ...more] = process.argv.slice(2);
if (folder === undefined || more.length > 0) {
  process.stderr.write('Usage: node tools/image/main.ts <new folder>\n');
  process.exitCode = 2;
} else {
  try {
    await writeFiles(process.cwd(), folder);
  } catch (error) {
    process.stderr.write(`image: ${error instanceof Error ? error.message : 'unknown'}\n`);
    process.exitCode = 1;
  }
}
