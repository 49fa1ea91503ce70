import pg from 'pg';

/**
 * Limits of every connection, in milliseconds: pg's own defaults are "for ever". The server keeps them; that it may not
 * answer at all is withConnection's part.
 */
export interface PoolLimits {
  readonly connections: number;
  readonly connectTimeout: number;
  readonly statementTimeout: number;
  readonly lockTimeout: number;
  readonly idleInTransactionTimeout: number;
}

/** Limits that answer within the two seconds a caller may wait when Postgres is away. */
export const defaultLimits: PoolLimits = {
  connections: 4,
  connectTimeout: 1_500,
  statementTimeout: 1_500,
  lockTimeout: 1_000,
  idleInTransactionTimeout: 10_000,
};

/** Runs work that takes one connection when its box has its turn, at most `patience` milliseconds from now. */
export type Turns = <T>(box: string, patience: number, work: () => Promise<T>) => Promise<T>;

/** Connections to Postgres: a pool and, where boxes share it, the turns that they take. */
export interface Connections {
  connect(): Promise<pg.PoolClient>;
  /** Absent where all work belongs together: then a connection goes to the work that asked first. */
  readonly turns?: Turns;
  /** Returns the same connections for one member of a box: an address, client or user. */
  ofMember?(member: string): Connections;
}

/** The two pools of the API: the token and check paths keep their own, so that a slow search cannot starve them. */
export interface Database {
  readonly hot: pg.Pool;
  readonly general: pg.Pool;
  /** Closes both, after what is running. */
  end(): Promise<void>;
}

/** Makes the two pools of a database URL; connects when first used. `onError` hears of connections that broke while idle. */
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

/** One pool with every limit set. A broken connection is thrown away, never an uncaught exception. */
export function createPool(
  url: string,
  limits: PoolLimits,
  application: string,
  onError: (error: Error) => void,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: application,
    max: limits.connections,
    connectionTimeoutMillis: limits.connectTimeout,
    statement_timeout: limits.statementTimeout,
    lock_timeout: limits.lockTimeout,
    idle_in_transaction_session_timeout: limits.idleInTransactionTimeout,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  // The client tells of it: it alone hears of a connection that breaks between two statements of a transaction.
  pool.on('connect', (client) => client.on('error', onError));
  pool.on('error', () => undefined);
  return pool;
}
