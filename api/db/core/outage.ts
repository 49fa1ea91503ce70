import pg from 'pg';
import { Problem } from '../../problem.ts';

/**
 * Returns why Postgres cannot be used now, and what an admin can do about it: one sentence without host or password.
 */
export function adviceFor({ message, cause }: Outage): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const advice = advices.find(([codes]) => codes.test(code))?.[1];
  if (advice !== undefined) return `${message} (${code}): ${advice}`;
  if (cause === undefined) return message;
  const said = cause instanceof Error ? cause.message : '';
  return /timeout|terminated/i.test(said) ? `${message} (no answer in time): ${unreachable}` : `${message}: ${said}`;
}

const unreachable =
  'check the host and the port of BOXGATE_DATABASE_URL, that Postgres runs, and that NetworkPolicies let this pod reach it';

/** By the code of the cause: that of the system, or that of Postgres (PostgreSQL Appendix A). */
const advices: readonly (readonly [codes: RegExp, advice: string])[] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the host of BOXGATE_DATABASE_URL has no address; check its name and its namespace'],
  [/^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET|EPIPE)$/, unreachable],
  [/^28/, 'it refuses the role or the password of BOXGATE_DATABASE_URL; compare them with the Secret of the database'],
  [/^3D000$/, 'the database that BOXGATE_DATABASE_URL names does not exist; create it, then run boxgate migrate'],
  [
    /^(.*CERT.*|ERR_TLS.*|UNABLE_TO.*)$/,
    'its certificate is not trusted; check sslmode and sslrootcert of BOXGATE_DATABASE_URL',
  ],
  [/^53300$/, 'it has no connection left; raise max_connections or lower BOXGATE_POOL_SIZE'],
  [/^(57P03|57P01|57P02)$/, 'it is starting or stopping; this program tries again by itself'],
];

/** Error: Postgres cannot answer now (unreachable, read-only, too busy, too slow). 503 for callers, who may retry. */
export class Outage extends Error {
  override readonly name = 'Outage';
}

/** The box of a transaction is about to be served by this database. */
export class Arriving extends Outage {}

/** The box of a transaction is in another database. */
export class Moved extends Error {
  override readonly name = 'Moved';
  /** The name of that database. */
  readonly database: string;
  /** Config version of the box under which it left. */
  readonly version: number;

  constructor(database: string, version: number) {
    super(`the box is in the database ${database}`);
    this.database = database;
    this.version = version;
  }
}

/**
 * Runs a piece of work on Postgres and translates its errors: {@link Outage} if Postgres cannot answer, {@link Moved}
 * if the box is in another database, {@link Problem} if a value cannot be stored, any other error unchanged.
 */
export async function translatingErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toOutage(error);
  }
}

/** Translates an error of the Postgres client; see {@link translatingErrors}. */
export function toOutage(error: unknown): unknown {
  if (error instanceof Outage || error instanceof Problem) return error;
  const code = codeOf(error);
  if (error instanceof pg.DatabaseError && code === 'BX001') return new Moved(error.message, Number(error.detail));
  if (error instanceof pg.DatabaseError && code === 'BX002') return new Outage(error.message);
  if (error instanceof pg.DatabaseError && code === 'BX003') return new Arriving(error.message);
  if (code !== undefined && isValueCode(code)) {
    return new Problem('invalid', [{ path: '', message: 'holds a value that cannot be stored' }]);
  }
  return cannotAnswer(error, code) ? new Outage('Postgres cannot answer now', { cause: error }) : error;
}

/** Checks whether an error means that Postgres cannot answer: retrying a batch's items one by one would be useless. */
export function isOutage(error: unknown): boolean {
  return toOutage(error) instanceof Outage;
}

/** Checks whether Postgres cannot answer, also if an error of ours has that as its cause. */
export function isCausedByOutage(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return isOutage(error) || (error.cause !== undefined && isCausedByOutage(error.cause));
}

/** Checks whether Postgres cancelled a statement: it took longer than `statement_timeout` allows (57014). */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === '57014';
}

/** Checks whether Postgres refused to write (25006), an error of ours with that as its cause included. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error instanceof Outage ? error.cause : error) === '25006';
}

/** Checks whether Postgres refused a row because another one has its key in this unique index (23505). */
export function isUniqueViolation(error: unknown, index: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === index;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Checks for class 22 of PostgreSQL's error codes, "data exception": the caller's value is wrong, not the service. */
function isValueCode(code: string): boolean {
  return /^22[0-9A-Z]{3}$/.test(code);
}

/**
 * 08 connection, 25006 read-only, 25P03 idle in a transaction, 28 login refused, 3D000 no such database, 40 rollback,
 * 53 resources, 55000 what recovery does not allow (on a primary none of our statements raises it), 55P03 lock not
 * available, 57 operator intervention, 58 I/O.
 */
const outageClasses = /^(08...|25006|25P03|28...|3D000|40...|53...|55000|55P03|57...|58...)$/;

/** Error codes of the system, of sockets and of TLS: the certificate of Postgres is the operator's task, too. */
const connectionCodes = /^(E[A-Z]+|ERR_(SOCKET|TLS|SSL)_.*|CERT_.*|.*_CERT(_.*)?|UNABLE_TO_.*)$/;

/** Checks whether an error of the Postgres client, with its code, means that Postgres cannot answer. */
function cannotAnswer(error: unknown, code: string | undefined): boolean {
  if (error instanceof pg.DatabaseError) return code === undefined || outageClasses.test(code);
  if (code !== undefined && connectionCodes.test(code)) return true;
  return error instanceof Error && connectionMessages.some((message) => error.message.includes(message));
}

/** pg reports these without a code. */
const connectionMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after calling end',
  'the database system is',
  'The server does not support SSL connections',
];
