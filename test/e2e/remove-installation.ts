import { release, system } from './installation.ts';
import { runCommand, type CommandOptions } from './run-command.ts';

/** Label of the namespaces that stories create. */
export const ofStory = 'boxgate.example/story=e2e';

/**
 * Removes the installation, the namespaces of the stories and the definitions, as far as they are there: after the
 * story of uninstalling there is nothing left to do. Throws CommandError if something cannot be removed.
 */
export async function removeInstallation(options: CommandOptions = {}): Promise<void> {
  const kubectl = (...parameters: readonly string[]) => runCommand('kubectl', parameters, options);
  const quietly = ['--ignore-not-found', '--timeout', '240s'];
  const uninstall = ['uninstall', release, '--namespace', system, '--ignore-not-found', '--timeout', '240s'];
  await runCommand('helm', uninstall, options);
  await kubectl('delete', 'namespace', '--selector', ofStory, ...quietly);
  await kubectl('delete', 'namespace', system, 'bookshop', 'bakery', ...quietly);
  const definitions = ['boxes', 'clients', 'accesspolicies', 'groups'].map((kind) => `${kind}.boxgate.dev`);
  await kubectl('delete', 'customresourcedefinitions', ...definitions, ...quietly);
}
