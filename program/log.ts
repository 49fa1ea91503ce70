import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

/** The log of a program: one JSON object a line on standard output. */
export type Log = Logger;

/** Log levels that a program can be set to. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/**
 * Creates a log whose lines are collected and written together, so that a line does not cost a system call on the token
 * path; `flushLog` writes the rest. `destination` is for tests.
 */
export function createLog(level: LogLevel, destination: DestinationStream = buffered()): Log {
  const timestamp = createTimestamp();
  const log = pino({ level, base: null, timestamp, formatters: { level: levelName } }, destination);
  factWriters.set(log, (facts) => {
    destination.write(`{"level":"info"${timestamp()},${JSON.stringify(facts).slice(1)}\n`);
  });
  return log;
}

/** Facts of a line of the log, at least one; those that are undefined are left out. */
export type Facts = Readonly<Record<string, string | number | undefined>>;

const factWriters = new WeakMap<Log, (facts: Facts) => void>();

/**
 * Writes the line that `log.info(facts)` writes, at a third of its cost (decision 35). For what is logged with
 * every request.
 */
export function logFacts(log: Log, facts: Facts): void {
  const write = factWriters.get(log);
  if (write === undefined) log.info(facts);
  else if (log.isLevelEnabled('info')) write(facts);
}

/** Creates a source of timestamps: many lines share a millisecond, whose text is created once. */
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

/** Milliseconds that a line may wait, and characters at which the waiting lines are written. */
const longestWait = 100;
const enough = 16_384;

/** Passes many lines at once to pino's stream: for each piece it gets, it measures again all that it still holds. */
function buffered(): DestinationStream & { flush(done?: (error?: Error) => void): void } {
  // Writes immediately; with a minimum length of 0 its `flush` would not wait.
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

/** Writes the remaining lines of the log; to be awaited before the process ends. */
export function flushLog(log: Log): Promise<void> {
  return new Promise((resolve) => {
    log.flush(() => {
      resolve();
    });
  });
}

/** Describes an error for the log: its kind, text and cause, never a statement's parameters. */
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
