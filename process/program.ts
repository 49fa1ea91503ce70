import { printFatal } from './print-fatal.ts';
import { crashOnBugs } from './crash-on-bugs.ts';
import { createLog, flushLog } from './log.ts';
import type { Log, LogLevel } from './log.ts';

/**
 * Runs the command that the arguments name; resolves with its exit code: its own, 1 if it throws (one sentence says
 * why), 0 for a request for help, 2 with the usage for anything else.
 */
export async function runCommand(
  args: readonly string[],
  usage: string,
  commands: ReadonlyMap<string, () => Promise<number>>,
): Promise<number> {
  const run = commands.get(args.join(' '));
  if (run === undefined) {
    const asked = args.some((arg) => /^(-h|--help|help)$/.test(arg));
    (asked ? process.stdout : process.stderr).write(usage);
    return asked ? 0 : 2;
  }
  try {
    return await run();
  } catch (error) {
    printFatal(error);
    return 1;
  }
}

/** Serves with a log, and exits at a bug; resolves with 0 after a requested stop. */
export async function serveWithLog(level: LogLevel, serve: (log: Log) => Promise<void>): Promise<number> {
  const log = createLog(level);
  crashOnBugs(log);
  try {
    await serve(log);
  } finally {
    // Also after a failed start or an unexpected end: the lines logged until then say more than the one sentence.
    await flushLog(log);
  }
  return 0;
}
