import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

/** The log of a program: one JSON object a line on standard output. */
export type Log = Logger;

/** Levels a program can be told to log at. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/**
 * A log whose lines are collected and written together, so that a line does not cost a system call on the token path;
 * `flushLog` writes what is left. `destination` is for tests.
 */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = { level, base: null, timestamp: createTimestamp(), formatters: { level: levelName } };
  return destination === undefined ? pino(options, buffered()) : pino(options, destination);
}

/** Many lines share a millisecond, whose text is made once. */
function createTimestamp(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

function levelName(label: string): { level: string } {
  return { level: label };
}

/** Milliseconds a line may wait, and characters that are waited for. */
const longestWait = 100;
const enough = 16_384;

/** Hands pino's stream many lines at once: for each piece it gets, it measures again all that it still holds. */
function buffered(): DestinationStream & { flush(done?: (error?: Error) => void): void } {
  // Writes at once; with a least length of 0 its `flush` would not wait.
  const stream = pino.destination({ sync: false, minLength: 1 });
  let lines = '';
  function pass(): void {
    if (lines === '') return;
    stream.write(lines);
    lines = '';
  }
  setInterval(pass, longestWait).unref();
  return {
    write(line) {
      lines += line;
      if (lines.length >= enough) pass();
    },
    flush(done) {
      pass();
      stream.flush(done);
    },
  };
}

/** Writes what the log still holds; to be awaited before the process ends. */
export function flushLog(log: Log): Promise<void> {
  return new Promise((resolve) => {
    log.flush(() => {
      resolve();
    });
  });
}

/** An error as the log shows it: its kind, text and cause, never a statement's parameters. */
export function errorFacts(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof Error)) return { error: typeof error };
  const cause = error.cause instanceof Error ? { cause: `${error.cause.name}: ${error.cause.message}` } : {};
  return {
    error: error.name,
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...cause,
  };
}
