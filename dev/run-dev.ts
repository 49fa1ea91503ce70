import { dev } from './dev.ts';
import { handedOn } from './processes/dev-api.ts';
import { DevError, readDevOptions, UsageError, USAGE } from './options.ts';
import { plainText } from '../program/text.ts';

/**
 * Runs `boxgate dev` in this process: its arguments, its signals, its errors as sentences. Resolves with the exit code:
 * 0 stopped as requested, 1 cannot continue (with `--once`: not all is Ready), 2 usage. `self` starts `boxgate`.
 */
export async function runDev(
  args: readonly string[],
  self: readonly [string, ...string[]],
  compileCache: string,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  if (environment['npm_command'] !== undefined) whenParentIsGone(stop);
  try {
    const { stdout, stderr } = process;
    const cwd = process.cwd();
    const apiSettings = handedOn(environment);
    const own = { cwd, stdout, stderr, self, compileCache, apiSettings };
    return await dev(readDevOptions(args, cwd, environment), own, stopping.signal);
  } catch (error) {
    return complain(error);
  }
}

/** Stops when the parent is gone: `npx` passes SIGTERM on to the shell in between, which dies without telling us. */
function whenParentIsGone(stop: () => void): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, 250).unref();
}

function complain(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`boxgate: ${plainText(error.message)}\n\n${USAGE}`);
    return 2;
  }
  if (!(error instanceof DevError)) throw error;
  process.stderr.write(`boxgate: ${plainText(error.message)}\n`);
  return 1;
}
