import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { releaseVersion } from '../../program/version.ts';

const run = promisify(execFile);

/**
 * Text in the executable of Node.js that is changed when it has a program in it (its documentation, "Single executable
 * applications").
 */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Writes boxctl as one executable, with the Node.js of this process in it. Throws an Error of one sentence. */
export async function buildSingleFile(executable: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'boxctl-build-'));
  try {
    const [script, blob, settings] = ['boxctl.cjs', 'boxctl.blob', 'sea.json'].map((name) => path.join(folder, name));
    if (script === undefined || blob === undefined || settings === undefined) throw new TypeError('three names');
    await bundle(script);
    const config = { main: script, output: blob, disableExperimentalSEAWarning: true, useCodeCache: true };
    await writeFile(settings, JSON.stringify(config));
    await run(process.execPath, ['--experimental-sea-config', settings]);
    await mkdir(path.dirname(path.resolve(executable)), { recursive: true });
    // Under another name until it is whole; the old one may be running.
    const next = `${executable}.new`;
    await copyFile(process.execPath, next);
    await chmod(next, 0o755);
    // It warns of sections of the executable that have no name; what it says is told if it fails.
    const postject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));
    await run(process.execPath, [postject, next, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE]);
    await rename(next, executable);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the program and its packages as one script. */
async function bundle(script: string): Promise<void> {
  await build({
    entryPoints: ['api/cli/main.ts'],
    outfile: script,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    logLevel: 'warning',
    plugins: [
      {
        name: 'version',
        setup(building) {
          // There is no package.json next to the executable.
          const contents = `export const releaseVersion = () => ${JSON.stringify(releaseVersion())};`;
          building.onLoad({ filter: /program\/version\.ts$/ }, () => ({ contents, loader: 'ts' }));
        },
      },
    ],
  });
}
