import { wordHint } from '../crds/did-you-mean.ts';
import { plainText } from './text.ts';
import { withSmallHeap } from './small-heap.ts';
import { releaseVersion } from './version.ts';
import { USAGE } from './usage.ts';

/** The commands that people type. */
const commands = ['dev', 'api', 'operator', 'migrate', 'admin', 'keys', 'help', 'version', '--help', '--version'];

function hasDashesLike(text: string): (command: string) => boolean {
  return (command) => command.startsWith('-') === text.startsWith('-');
}

/** Variants of the program: the image's own, or the `boxgate` command of a checkout. */
export interface ProgramOptions {
  /** Text of `boxgate help`; by default that of the image. */
  readonly usage?: string;
  /** Folder for compiled code; without it nothing is written. */
  readonly compileCache?: string;
}

/**
 * Runs a command; resolves with its exit code, 2 for an unknown command. Each command loads its own program only,
 * because the API does not need the reconciler in memory.
 */
export async function run(
  [command, ...args]: readonly string[],
  environment: NodeJS.ProcessEnv,
  { usage = USAGE, compileCache }: ProgramOptions,
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
      const { main } = await import('../operator/keys/main.ts');
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
