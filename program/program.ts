import { createLog, flushLog, errorFacts, type Log } from './log.ts';
import type { LogLevel } from './log.ts';
import { ConfigError } from './environment.ts';
import { wordHint } from '../crds/did-you-mean.ts';

/**
 * Runs the command that the arguments name; resolves with its exit code: its own, 1 if it throws (one sentence says
 * why), 0 for a request for help, 2 with the usage for anything else, after a hint if the arguments may be misspelled.
 */
export async function runCommand(
  args: readonly string[],
  usage: string,
  commands: ReadonlyMap<string, () => Promise<number>>,
): Promise<number> {
  const run = commands.get(args.join(' '));
  if (run === undefined) {
    const asked = args.some((arg) => /^(-h|--help|help)$/.test(arg));
    if (asked) process.stdout.write(usage);
    else process.stderr.write(`${unknownCommand(wordHint(args.join(' '), commands.keys()))}${usage}`);
    return asked ? 0 : 2;
  }
  try {
    return await run();
  } catch (error) {
    printFatal(error);
    return 1;
  }
}

/** Returns the line about arguments that name no command, if there is a hint; it does not repeat them. */
function unknownCommand(hint: string): string {
  return hint === '' ? '' : `boxgate: no command has these arguments${hint}\n\n`;
}

/** Serves with a log, whose first lines are warnings, and exits at a bug; resolves with 0 after a requested stop. */
export async function serveWithLog(
  level: LogLevel,
  warnings: readonly string[],
  serve: (log: Log) => Promise<void>,
): Promise<number> {
  const log = createLog(level);
  crashOnBugs(log);
  for (const warning of warnings) log.warn(warning);
  try {
    await serve(log);
  } finally {
    // Also after a failed start or an unexpected end: the lines logged until then say more than the one sentence.
    await flushLog(log);
  }
  return 0;
}

/** Logs an uncaught error and exits with 1: a new process is better than one in an unknown state. */
function crashOnBugs(log: Log): void {
  const crash = (error: unknown): void => {
    log.fatal(errorFacts(error), 'bug');
    void flushLog(log).then(() => process.exit(1));
  };
  process.once('uncaughtException', crash);
  process.once('unhandledRejection', crash);
}

/** Prints on standard error why a program cannot continue, one sentence for each mistake. */
function printFatal(error: unknown): void {
  const sentences = error instanceof ConfigError ? error.mistakes : [sentenceOf(error)];
  for (const sentence of sentences) process.stderr.write(`boxgate: ${sentence}\n`);
}

/** Returns the failure and its cause: `Postgres cannot answer now: connect ECONNREFUSED 127.0.0.1:5432`. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  // Several addresses of one host have a message each, and none in common.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const message = error.message === '' && first !== undefined ? sentenceOf(first) : error.message;
  if (error.cause === undefined) return message;
  const cause = sentenceOf(error.cause);
  return message.includes(cause) ? message : `${message}: ${cause}`;
}
