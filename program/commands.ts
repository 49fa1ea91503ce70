import { wordHint } from '../crds/did-you-mean.ts';
import { plainText } from './text.ts';
import { releaseVersion } from './version.ts';
import { withSmallHeap } from './small-heap.ts';

/** Lines of the usage for the commands of {@link run}. */
export const COMMANDS = `boxgate api            serve the boxes of a database (settings: docs/reference/configuration.md)
       boxgate operator       keep the boxes of a Kubernetes cluster as they are declared
       boxgate migrate        bring a database to this release's schema, as its owner
       boxgate keys create    create the Secret of an installation's keys, once (a Job of the chart runs it)
       boxgate keys rotate    rotate one of them: management, certificate, encryption, digest
       boxgate keys forget encryption
                              remove the older encryption keys, and with them what only they open
       boxgate admin reset <box> <email>
                              give an administrator a new password, which is read from standard input
`;

/** The commands that people type. */
const commands = ['dev', 'api', 'operator', 'migrate', 'admin', 'keys', 'help', 'version', '--help', '--version'];

function hasDashesLike(text: string): (command: string) => boolean {
  return (command) => command.startsWith('-') === text.startsWith('-');
}

/**
 * Runs a command; resolves with its exit code, 2 for an unknown command. Each command loads its own program only,
 * because the API does not need the reconciler in memory. `compileCache` is a folder for compiled code.
 */
export async function run(
  [command, ...args]: readonly string[],
  environment: NodeJS.ProcessEnv,
  usage: string,
  compileCache: string,
): Promise<number> {
  switch (command) {
    case 'api':
    case 'admin':
    case 'migrate': {
      const { main } = await import('../api/main.ts');
      return main([command, ...args], environment);
    }
    case 'operator': {
      withSmallHeap(compileCache, environment);
      const { main } = await import('../operator/main.ts');
      return main([command, ...args], environment);
    }
    case 'keys': {
      const { main } = await import('../operator/keys/commands.ts');
      return main([command, ...args], environment);
    }
    case 'help':
    case '--help':
    case '-h':
      process.stdout.write(usage);
      return 0;
    case 'version':
    case '--version':
    case '-v':
      process.stdout.write(`boxgate ${releaseVersion()}\n`);
      return 0;
    case undefined:
      process.stderr.write(usage);
      return 2;
    default:
      process.stderr.write(
        `boxgate: there is no command ${plainText(command)}${wordHint(command, commands.filter(hasDashesLike(command)))}\n\n${usage}`,
      );
      return 2;
  }
}
