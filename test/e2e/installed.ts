import type { RootHookObject } from 'mocha';
import { install, release, system } from './installation.ts';
import { kubectl, listObjects, nameOf } from './kubectl.ts';
import { runCommand } from './run-command.ts';
import { timed } from './timed.ts';

/** Label of the namespaces that stories create. */
export const ofStory = 'boxgate.example/story=e2e';

/** Installs the chart into a namespace that enforces Pod Security `restricted`, as every story needs it. */
export async function mochaGlobalSetup(): Promise<void> {
  try {
    await kubectl('create', 'namespace', system);
    await kubectl('label', 'namespace', system, 'pod-security.kubernetes.io/enforce=restricted');
    await timed('helm install until everything is Ready', () => install());
  } catch (error) {
    process.stdout.write(await diagnosis());
    await mochaGlobalTeardown();
    throw error;
  }
}

/** Removes the installation, and the namespaces of the stories: after the story of uninstalling there is nothing left to do. */
export async function mochaGlobalTeardown(): Promise<void> {
  await runCommand('helm', ['uninstall', release, '--namespace', system, '--ignore-not-found', '--timeout', '120s']);
  await kubectl('delete', 'namespace', '--selector', ofStory, '--ignore-not-found', '--timeout', '120s');
  await kubectl('delete', 'namespace', system, 'bookshop', '--ignore-not-found', '--timeout', '120s');
  const definitions = ['boxes', 'clients', 'accesspolicies', 'groups'].map((kind) => `${kind}.boxgate.dev`);
  await kubectl('delete', 'customresourcedefinitions', ...definitions, '--ignore-not-found', '--timeout', '120s');
}

/** After the first failure, prints what the cluster says about the pods of Boxgate. */
export const mochaHooks: RootHookObject = {
  async afterEach(this: Mocha.Context) {
    if (isDiagnosed || this.currentTest?.state !== 'failed') return;
    isDiagnosed = true;
    process.stdout.write(await diagnosis());
  },
};

let isDiagnosed = false;

async function diagnosis(): Promise<string> {
  const parts = [
    await said('get', 'pods,jobs', '--all-namespaces', '--output', 'wide'),
    await said('get', 'events', '--namespace', system, '--sort-by', '.lastTimestamp'),
    await said('get', 'boxes,clients,accesspolicies', '--all-namespaces'),
  ];
  const pods = await listObjects('pods', { namespace: system }).catch(() => []);
  for (const pod of pods.map(nameOf)) {
    parts.push(`--- ${pod}\n${await said('logs', pod, '--namespace', system, '--all-containers', '--tail', '6')}`);
  }
  return `\n${parts.map(lastLines).join('\n')}\n`;
}

const [mostLines, mostCharacters] = [25, 240];

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-mostLines);
  return lines.map((line) => line.slice(0, mostCharacters)).join('\n');
}

/** A command that fails says why, and is no second failure of the story. */
function said(...parameters: readonly string[]): Promise<string> {
  return kubectl(...parameters).catch((error: unknown) => (error instanceof Error ? error.message : 'unknown'));
}
