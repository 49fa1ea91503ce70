import { isIP } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { isPlainUrl, PLAIN_URL } from '../program/environment.ts';
import type { Environment } from '../program/environment.ts';
import { optionFault } from '../program/text.ts';
import { COMMANDS } from '../program/commands.ts';

/** Text that `boxgate help` prints. */
export const USAGE = `Usage: boxgate dev <folder>   serve what the manifests in a folder declare, with no cluster
       ${COMMANDS}       boxgate help           this text (also --help, and boxgate dev --help)
       boxgate version        the version (also --version)

Options of boxgate dev:
  --host <address>        IP address that the service listens on (127.0.0.1; or BOXGATE_HOST)
  --port <n>              port of the service (8080 or, if that is taken, another; 0: any free one; or PORT)
  --management-port <n>   port that desired state comes in by, on 127.0.0.1 (8081, likewise)
  --public-url <url>      address that callers reach it by, behind a proxy or tunnel (or BOXGATE_PUBLIC_URL)
  --state <dir>           where data, secrets and logs are kept (.boxgate in the folder)
  --database-url <url>    use this Postgres, as its owner, instead of the embedded one (or BOXGATE_OWNER_URL)
  --api-database-url <url>  the role of the API there (without it, the owner creates one; or BOXGATE_DATABASE_URL)
  --databases <file>      use several Postgres: a YAML file with databases: [{name: home, ownerUrl: …, url: …}, …]
  --once                  apply, print, and exit: 0 if everything is Ready, else 1
`;

/** Reason why `boxgate dev` cannot start or continue, as one sentence for the user; exit code 1. */
export class DevError extends Error {
  override readonly name = 'DevError';
}

/** Options of `boxgate dev`. */
export interface DevOptions {
  /** Absolute path. */
  readonly folder: string;
  /** IP address that the service listens on. */
  readonly host: string;
  /** 0: any free one; undefined: the usual one, or another where that is taken. */
  readonly port: number | undefined;
  readonly managementPort: number | undefined;
  /** The address that callers reach the service by, without a slash at the end; undefined: where it listens. */
  readonly publicUrl: string | undefined;
  /** Absolute path. */
  readonly state: string;
  /** A Postgres to use, as its owner, instead of the embedded one. */
  readonly databaseUrl: string | undefined;
  /** The role of the API in that Postgres; otherwise its owner creates one. */
  readonly apiDatabaseUrl: string | undefined;
  /** Absolute path of the file that names several Postgres, instead of `databaseUrl`. */
  readonly databases: string | undefined;
  readonly once: boolean;
}

/** A command line that is not understood, as one sentence; usage and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads the arguments after `dev`; what they leave out may be in the environment. Throws UsageError. */
export function readDevOptions(args: readonly string[], cwd: string, environment: Environment): DevOptions {
  const { values, positionals } = parsed(args);
  const [folder, ...more] = positionals;
  if (folder === undefined || folder === '')
    throw new UsageError('Which folder? `boxgate dev` needs the one that holds the manifests');
  if (more.length > 0) throw new UsageError(`One folder at a time: ${more.join(' ')} is too much`);
  if (values.state === '') throw new UsageError('--state must be the path of a folder');
  const absolute = path.resolve(cwd, folder);
  return {
    folder: absolute,
    ...addresses(values, environment),
    state: values.state === undefined ? path.join(absolute, '.boxgate') : path.resolve(cwd, values.state),
    ...databases(values, cwd, environment),
    once: values.once ?? false,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new UsageError(optionFault(error, Object.keys(OPTIONS)));
  }
}

type Values = ReturnType<typeof parsed>['values'];

const OPTIONS = {
  host: { type: 'string' },
  port: { type: 'string' },
  'management-port': { type: 'string' },
  'public-url': { type: 'string' },
  state: { type: 'string' },
  'database-url': { type: 'string' },
  'api-database-url': { type: 'string' },
  databases: { type: 'string' },
  once: { type: 'boolean' },
} as const;

/** Reads a port; undefined if none is given. */
function port(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (number <= 65_535) return number;
  throw new UsageError(`${option} must be a number from 0 to 65535 (0: any free one)`);
}

/** Reads where the service listens, and the address that callers reach it by. Throws UsageError. */
function addresses(
  values: Values,
  environment: Environment,
): Pick<DevOptions, 'host' | 'port' | 'managementPort' | 'publicUrl'> {
  const [service, management] = [
    values.port === undefined ? port(environment['PORT'], 'PORT') : port(values.port, '--port'),
    port(values['management-port'], '--management-port'),
  ];
  if (service === management && service !== undefined && service !== 0)
    throw new UsageError(`--port and --management-port are both ${String(service)}: choose two (0: any free one)`);
  const host = values.host ?? environment['BOXGATE_HOST'] ?? '127.0.0.1';
  if (isIP(host) === 0) throw new UsageError('--host must be an IP address, such as 0.0.0.0 for every interface');
  return { host, port: service, managementPort: management, publicUrl: publicUrl(values, environment) };
}

function publicUrl(values: Values, environment: Environment): string | undefined {
  const text = values['public-url'] ?? environment['BOXGATE_PUBLIC_URL'];
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !isPlainUrl(url)) throw new UsageError(`--public-url ${PLAIN_URL}`);
  return url.href.replace(/\/+$/, '');
}

/** Reads the file of several databases, or the URLs of the owner and of the API's role. Throws UsageError. */
function databases(
  values: Values,
  cwd: string,
  environment: Environment,
): Pick<DevOptions, 'databaseUrl' | 'apiDatabaseUrl' | 'databases'> {
  if (values.databases !== undefined) {
    if (values['database-url'] !== undefined || values['api-database-url'] !== undefined)
      throw new UsageError('--databases names every database: leave --database-url and --api-database-url out');
    const file = path.resolve(cwd, values.databases);
    return { databaseUrl: undefined, apiDatabaseUrl: undefined, databases: file };
  }
  const owner = values['database-url'] ?? environment['BOXGATE_OWNER_URL'];
  const isFromEnvironment = values['database-url'] === undefined;
  const api = values['api-database-url'] ?? (isFromEnvironment ? environment['BOXGATE_DATABASE_URL'] : undefined);
  if (api !== undefined && owner === undefined) {
    throw new UsageError('--api-database-url needs --database-url: the owner brings the schema up to date');
  }
  return {
    databaseUrl: databaseUrl('--database-url', 'owner', owner),
    apiDatabaseUrl: databaseUrl('--api-database-url', 'boxgate_api', api),
    databases: undefined,
  };
}

/** Checks a URL. The error does not show it, because it may hold a password. Throws UsageError. */
function databaseUrl(option: string, role: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (isPostgresUrl(text)) return text;
  throw new UsageError(`${option} must be a URL such as postgres://${role}:password@host:5432/database`);
}

/** Checks for the URL of a role in a Postgres. */
export function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.username !== '';
}
