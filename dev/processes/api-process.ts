import { isObject, parseJson } from '../../crds/path.ts';
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRefusalReason, refusals } from '../../api/schemas/refusals.ts';
import { DevError } from '../options.ts';

/** The ports that the API listens on. */
export interface Ports {
  readonly port: number;
  readonly managementPort: number;
}

/** The API as a separate process. */
export interface ApiProcess extends Ports {
  /** Resolves with its last message when the process has ended, for whatever reason. */
  readonly ended: Promise<string>;
  /** Stops it gracefully; resolves when it has ended. */
  stop(): Promise<void>;
}

/** Options of the API's process: the program with its arguments, its settings, the file of its log. */
export interface ApiProcessOptions {
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
}

const startTimeout = 30_000;
const stopTimeout = 15_000;

/**
 * Starts the API and waits until it listens. It exits when this process is gone, however that died: it holds the other
 * end of a pipe (descriptor 3). Throws DevError with the API's last message if it does not start.
 */
export async function startApi({ command, environment, logFile }: ApiProcessOptions): Promise<ApiProcess> {
  const [program, ...args] = command;
  const from = sizeOf(logFile);
  const log = openSync(logFile, 'a', 0o600);
  // The process writes its log itself: it can be long, and passing it on would cost this process as much.
  const child = spawn(program, args, {
    stdio: ['ignore', log, log, 'pipe'],
    env: { ...environment, BOXGATE_PARENT_PIPE: '3' },
    // Its own process group: Ctrl-C at a terminal must reach us first, open calls must still finish.
    detached: true,
  });
  closeSync(log);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      resolve(error.message);
    });
    child.once('exit', (code, signal) => {
      resolve(lastWords(logFile, from) ?? `it ended with ${signal ?? `exit code ${String(code)}`}`);
    });
  });
  const ports = await Promise.race([listening(logFile, from), ended]);
  if (typeof ports === 'string') throw new DevError(`The API did not start: ${ports}`);
  return {
    ...ports,
    ended,
    async stop() {
      child.kill('SIGTERM');
      const isLate = await Promise.race([ended.then(() => false), sleep(stopTimeout, true, { ref: false })]);
      if (isLate) child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Keeps the log of the previous run next to the new one. An API left running continues to write to its own. */
export function turnLog(logFile: string): void {
  if (sizeOf(logFile) > 0) renameSync(logFile, `${logFile}.1`);
  else rmSync(logFile, { force: true });
}

/**
 * Calls back with sentences for each request that the API refuses for a reason, as its log says; returns the function
 * that ends it.
 */
export function followRefusals(logFile: string, say: (sentence: string) => void): () => void {
  let from = 0;
  const timer = setInterval(() => {
    const bytes = bytesFrom(logFile, from);
    const whole = bytes.lastIndexOf('\n') + 1;
    from += whole;
    for (const line of bytes.subarray(0, whole).toString('utf8').split('\n')) {
      const value = line.includes('"reason":') ? parseJson(line) : undefined;
      if (isObject(value)) for (const sentence of refusalSentences(value)) say(sentence);
    }
  }, 500);
  return () => clearInterval(timer);
}

function bytesFrom(file: string, from: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, sizeOf(file) - from));
  if (bytes.length === 0) return bytes;
  const log = openSync(file, 'r');
  const length = readSync(log, bytes, 0, bytes.length, from);
  closeSync(log);
  return bytes.subarray(0, length);
}

function refusalSentences({
  method,
  route,
  status,
  reason,
  sent,
  request_id,
}: Readonly<Record<string, unknown>>): readonly string[] {
  const what = typeof sent === 'string' ? ` (${sent})` : '';
  const head = `${String(method)} ${String(route)}: ${String(status)} ${String(reason)}${what}, request ID ${String(request_id)}`;
  return isRefusalReason(reason) ? [head, `  ${refusals[reason].wrong}. ${refusals[reason].fix}`] : [head];
}

async function listening(logFile: string, from: number): Promise<Ports> {
  const deadline = performance.now() + startTimeout;
  while (performance.now() < deadline) {
    for (const line of linesFrom(logFile, from)) {
      const { msg, port, management_port } = line;
      if (msg === 'listening' && typeof port === 'number' && typeof management_port === 'number') {
        return { port, managementPort: management_port };
      }
    }
    await sleep(20);
  }
  throw new DevError(`The API did not start within ${String(startTimeout / 1000)} s; see ${logFile}`);
}

function linesFrom(logFile: string, from: number): readonly Readonly<Record<string, unknown>>[] {
  const text = readFileSync(logFile).subarray(from).toString('utf8');
  return text.split('\n').map((line) => {
    const value = parseJson(line);
    return isObject(value) ? value : { msg: line };
  });
}

/** Returns the last message of an ended process: `boxgate: Port 8080 is in use …`, a logged error, or a crash. */
function lastWords(logFile: string, from: number): string | undefined {
  const said = linesFrom(logFile, from).flatMap(({ level, msg, message }) => {
    const text = typeof message === 'string' ? message : msg;
    if (typeof text !== 'string') return [];
    const isSaid = level === 'error' || level === 'fatal' || /^boxgate: |^\w*Error: /.test(text);
    return isSaid ? [text.replace(/^boxgate: /, '').trim()] : [];
  });
  return said.at(-1);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
