import type { Outage } from './outage.ts';

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
