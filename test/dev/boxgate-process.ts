import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** `boxgate` as a process, seen from outside. */
export interface BoxgateProcess {
  readonly pid: number;
  /** Text that it has printed so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Its process id is somebody else's from then on. */
  readonly isOver: boolean;
  /** Resolves when it is gone and nobody holds its output any more: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Resolves when it has printed something like this, to either stream. Throws when it ends without. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  /** Writes to its standard input, and ends it where that is asked for. */
  type(text: string, then?: 'end'): void;
  /** Sends a signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Options of starting `boxgate`; by default, that of this checkout. */
export interface BoxgateOptions {
  /** Command line before the arguments of `boxgate`. */
  readonly command?: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts `boxgate` with these arguments. */
export function startBoxgate(args: readonly string[], options: BoxgateOptions = {}): BoxgateProcess {
  const [program, ...first] = options.command ?? ['./boxgate'];
  const child = spawn(program, [...first, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} cannot be started`);
  // A test that fails leaves nothing that the test run would wait for, or that would outlive it.
  for (const part of [child, child.stdout, child.stderr])
    if ('unref' in part && part.unref instanceof Function) part.unref();
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
  let isOver = false;
  const ended = once(child, 'close').then(() => {
    isOver = true;
    process.off('exit', kill);
    return child.exitCode ?? child.signalCode ?? 'SIGKILL';
  });
  return {
    pid,
    ended,
    get isOver() {
      return isOver;
    },
    get stdout() {
      return texts.stdout;
    },
    get stderr() {
      return texts.stderr;
    },
    type(text, then) {
      child.stdin.write(text);
      if (then === 'end') child.stdin.end();
    },
    async said(pattern) {
      for (;;) {
        const found = pattern.exec(texts.stdout) ?? pattern.exec(texts.stderr);
        if (found !== null) return found;
        if (isOver) throw new Error(`it ended without saying ${String(pattern)}:\n${texts.stdout}${texts.stderr}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs `boxgate` to its end. */
export async function runBoxgate(args: readonly string[], options?: BoxgateOptions) {
  const boxgate = startBoxgate(args, options);
  const code = await boxgate.ended;
  return { code, stdout: boxgate.stdout, stderr: boxgate.stderr };
}
