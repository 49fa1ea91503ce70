// `make e2e`: a cluster, the images, the stories of a folder, and nothing left behind, however it ends.
import { spawn } from 'node:child_process';
import { createCluster, currentCluster, type Cluster } from './cluster.ts';
import { variables, type E2eConfig } from './config.ts';
import { buildImages, buildNextRelease } from './images.ts';
import { runCommand } from './run-command.ts';

const needed: Readonly<Record<string, readonly string[]>> = {
  docker: ['version', '--format', '{{.Server.Version}}'],
  kubectl: ['version', '--client'],
  helm: ['version', '--short'],
  kind: ['version'],
};

const interruption = new AbortController();
let cluster: Cluster | undefined;
/** Ends the stories that are running. */
let endStories = (): void => undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interruption.abort(new Error('interrupted'));
    endStories();
  });
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`e2e: ${error instanceof Error ? error.message : 'unknown'}\n`);
  process.exitCode = 1;
} finally {
  await cluster?.remove();
}
if (interruption.signal.aborted) process.exitCode = 130;

async function run(stories: readonly string[]): Promise<number> {
  await checkPrograms();
  cluster = process.env['E2E_CONTEXT'] === 'current' ? await currentCluster() : await createCluster();
  interruption.signal.throwIfAborted();
  const images = await buildImages();
  interruption.signal.throwIfAborted();
  const next = stories.some((file) => file.includes('/faults/')) ? [await buildNextRelease(images.image)] : [];
  interruption.signal.throwIfAborted();
  await cluster.load([...Object.values(environmentOf(images)).filter((image) => image !== ''), ...next]);
  interruption.signal.throwIfAborted();
  return runStories(stories, { ...cluster.environment, ...environmentOf(images) });
}

async function checkPrograms(): Promise<void> {
  for (const [program, parameters] of Object.entries(needed)) await runCommand(program, parameters);
}

function environmentOf(images: E2eConfig): Record<string, string> {
  return {
    [variables.image]: images.image,
    [variables.nginxImage]: images.nginxImage,
    [variables.oldestPostgresImage]: images.oldestPostgresImage,
    [variables.postgresImage]: images.postgresImage ?? '',
  };
}

/** Runs the stories in a process of their own, which uninstalls what it installed. Returns its exit code. */
function runStories(stories: readonly string[], environment: Readonly<Record<string, string>>): Promise<number> {
  const mocha = ['node_modules/mocha/bin/mocha.js', '--config', '.config/mocha-e2e.cjs', ...stories];
  return new Promise((resolve, reject) => {
    // In a process group of its own: ^C reaches this process, which ends the stories once.
    const child = spawn(process.execPath, mocha, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    endStories = () => void child.kill('SIGINT');
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
