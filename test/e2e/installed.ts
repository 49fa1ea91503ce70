import type { RootHookObject } from 'mocha';
import { createSystemNamespace, install, system } from './installation.ts';
import { kubectl, listObjects, nameOf } from './kubectl.ts';
import { removeInstallation } from './remove-installation.ts';
import { timed } from './timed.ts';

/** Installs the chart into a namespace that enforces Pod Security `restricted`, as every story needs it. */
export async function mochaGlobalSetup(): Promise<void> {
  try {
    await createSystemNamespace();
    await timed('helm install until everything is Ready', () => install());
  } catch (error) {
    process.stdout.write(await diagnosis());
    await removeInstallation();
    throw error;
  }
}

/** Removes the installation and the namespaces of the stories. */
export function mochaGlobalTeardown(): Promise<void> {
  return removeInstallation();
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
