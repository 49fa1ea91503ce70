import pg from 'pg';

/**
 * Limits of every connection, in milliseconds: pg's own defaults are unlimited. The server enforces them;
 * withConnection handles a server that does not answer at all.
 */
export interface PoolLimits {
  readonly connections: number;
  readonly connectTimeout: number;
  readonly statementTimeout: number;
  readonly lockTimeout: number;
  readonly idleInTransactionTimeout: number;
  /** Called with each new connection; if it throws, the connection is not used. */
  readonly verify?: (client: pg.PoolClient) => Promise<void>;
}

/** Limits that allow an answer within the two seconds that a caller may wait when Postgres is unreachable. */
export const defaultLimits: PoolLimits = {
  connections: 4,
  connectTimeout: 1_500,
  statementTimeout: 1_500,
  lockTimeout: 1_000,
  idleInTransactionTimeout: 10_000,
};

/** A function that runs work on one connection when it is the box's turn, at most `patience` milliseconds from now. */
export type Turns = <T>(box: string, patience: number, work: () => Promise<T>) => Promise<T>;

/** Connections to Postgres: a pool and, where boxes share it, the turns that they take. */
export interface Connections {
  connect(): Promise<pg.PoolClient>;
  /** Absent if all work belongs together: then connections are given in the order of the requests. */
  readonly turns?: Turns;
}

/** The two pools of the API: the token and check paths have their own, so that a slow search cannot starve them. */
export interface Database {
  readonly hot: pg.Pool;
  readonly general: pg.Pool;
  /** Closes both after the running work. */
  end(): Promise<void>;
}

/** Creates the two pools of a database URL; connects on first use. `onError` is called when a connection breaks. */
export function openDatabase(url: string, limits: PoolLimits, onError: (error: Error) => void): Database {
  const hot = createPool(url, limits, 'boxgate-hot', onError);
  const general = createPool(url, limits, 'boxgate', onError);
  return {
    hot,
    general,
    async end() {
      await Promise.all([hot.end(), general.end()]);
    },
  };
}

/** Creates one pool with every limit set. A broken connection is discarded, never an uncaught exception. */
export function createPool(
  url: string,
  limits: PoolLimits,
  application: string,
  onError: (error: Error) => void,
): pg.Pool {
  const { verify } = limits;
  const pool = new pg.Pool({
    connectionString: url,
    application_name: application,
    max: limits.connections,
    connectionTimeoutMillis: limits.connectTimeout,
    statement_timeout: limits.statementTimeout,
    lock_timeout: limits.lockTimeout,
    idle_in_transaction_session_timeout: limits.idleInTransactionTimeout,
    idleTimeoutMillis: 60_000,
    maxLifetimeSeconds: CONNECTION_SECONDS,
    keepAlive: true,
    ...(verify && { verify: (client, done) => void verify(client).then(() => done(), done) }),
  });
  // The client reports it: only the client notices a connection that breaks between two statements of a transaction.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => undefined);
  return pool;
}

/** Seconds after which a connection is closed: each day of sessions leaves 200 KB of plans in it. */
const CONNECTION_SECONDS = 86_400;
