import type { Server } from 'node:http';
import type { Log } from '../../../program/log.ts';
import { defaultServerLimits } from './server.ts';
import type { ServerLimits } from './server.ts';

/** Files that a process has beside its connections to callers and to Postgres, and requests on its management port. */
const otherFiles = 100;

/** Milliseconds between two lines of the log about refused connections. */
const quiet = 60_000;

/**
 * Returns how many connections of callers a process serves that may have so many files open: so many that those to
 * Postgres, keys that have to be fetched and probes find a file even while all of them are open. `poolSize` is the
 * number of connections in each of the two pools; another one may be needed by each of them to cancel a statement.
 */
export function connectionLimit(openFiles: number, poolSize: number): number {
  return Math.max(1, Math.min(defaultServerLimits.connections, openFiles - otherFiles - 4 * poolSize));
}

/** Fewer connections than these are worth a warning at the start. */
const few = 1_000;

/** Settings that limits of the public port depend on. */
interface LimitSettings {
  readonly poolSize: number;
  readonly keepAliveSeconds: number;
}

/** Returns the limits of the public port of this process. A limit of few connections is logged. */
export function publicServerLimits({ poolSize, keepAliveSeconds }: LimitSettings, log: Log): ServerLimits {
  const connections = ownConnectionLimit(poolSize, log);
  return { ...defaultServerLimits, connections, keepAlive: 1_000 * keepAliveSeconds };
}

/** Returns the connections of callers that this process serves; see {@link connectionLimit}. */
function ownConnectionLimit(poolSize: number, log: Log): number {
  const files = openFilesLimit();
  const connections = connectionLimit(files, poolSize);
  if (connections < few) {
    log.warn(
      { open_files: files, connections },
      'few connections are served: raise the number of files that may be open',
    );
  }
  return connections;
}

/** Says in the log, once a minute at most, that a server closes new connections because it has as many as it may. */
export function logRefusedConnections(server: Server, log: Log, now: () => number = () => performance.now()): void {
  let last = -Infinity;
  let refused = 0;
  server.on('drop', () => {
    refused += 1;
    if (now() - last < quiet) return;
    last = now();
    log.warn({ refused, limit: server.maxConnections }, 'new connections are closed: as many as there may be are open');
    refused = 0;
  });
}

/**
 * Returns how many files and connections this process may have open: RLIMIT_NOFILE, which Node.js raises to its hard
 * limit at the start. Infinity where there is no limit, or the system does not tell it.
 */
export function openFilesLimit(): number {
  // Without it the report looks up the names of all peers. The types do not know it yet.
  Reflect.set(process.report, 'excludeNetwork', true);
  const soft = ['userLimits', 'open_files', 'soft'].reduce<unknown>(
    (found, key) => Reflect.get(Object(found), key),
    process.report.getReport(),
  );
  return typeof soft === 'number' ? soft : Infinity;
}
