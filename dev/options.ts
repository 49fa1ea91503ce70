import path from 'node:path';
import { parseArgs } from 'node:util';
import { wordHint } from '../crds/did-you-mean.ts';
import { optionFault } from '../program/text.ts';
import { COMMANDS } from '../program/commands.ts';

/** Text that `boxgate help` prints. */
export const USAGE = `Usage: boxgate dev <folder>   serve what the manifests in a folder declare, with no cluster
       ${COMMANDS}       boxgate help           this text (also --help, and boxgate dev --help)
       boxgate version        the version (also --version)

Options of boxgate dev:
  --port <n>              port of the service (8080; 0: any free one)
  --management-port <n>   port that desired state comes in by (8081; 0: any free one)
  --state <dir>           where data, secrets and logs are kept (.boxgate in the folder)
  --database-url <url>    use this Postgres, as its owner, instead of the embedded one
  --api-database-url <url>  the role of the API there (without it, the owner creates one)
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
  /** 0: any free one. */
  readonly port: number;
  readonly managementPort: number;
  /** Absolute path. */
  readonly state: string;
  /** A Postgres to use, as its owner, instead of the embedded one. */
  readonly databaseUrl: string | undefined;
  /** The role of the API in that Postgres; otherwise its owner creates one. */
  readonly apiDatabaseUrl: string | undefined;
  readonly once: boolean;
}

/** A command line that is not understood, as one sentence; usage and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads the arguments after `dev`. Throws UsageError. */
export function readDevOptions(args: readonly string[], cwd: string): DevOptions {
  const { values, positionals } = parsed(args);
  const [folder, ...more] = positionals;
  if (folder === undefined || folder === '')
    throw new UsageError('Which folder? `boxgate dev` needs the one that holds the manifests');
  if (more.length > 0) throw new UsageError(`One folder at a time: ${more.join(' ')} is too much`);
  if (values.state === '') throw new UsageError('--state must be the path of a folder');
  const absolute = path.resolve(cwd, folder);
  return {
    folder: absolute,
    ...ports(values.port, values['management-port']),
    state: values.state === undefined ? path.join(absolute, '.boxgate') : path.resolve(cwd, values.state),
    ...databases(values['database-url'], values['api-database-url']),
    once: values.once ?? false,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new UsageError(optionFault(error, Object.keys(OPTIONS), wordHint));
  }
}

const OPTIONS = {
  port: { type: 'string' },
  'management-port': { type: 'string' },
  state: { type: 'string' },
  'database-url': { type: 'string' },
  'api-database-url': { type: 'string' },
  once: { type: 'boolean' },
} as const;

function port(text: string | undefined, otherwise: number, option: string): number {
  if (text === undefined) return otherwise;
  const number = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (number <= 65_535) return number;
  throw new UsageError(`${option} must be a number from 0 to 65535 (0: any free one)`);
}

/** Reads the two ports: the one that may be reached from elsewhere, and the one that may not. */
function ports(
  service: string | undefined,
  management: string | undefined,
): Pick<DevOptions, 'port' | 'managementPort'> {
  const both = { port: port(service, 8080, '--port'), managementPort: port(management, 8081, '--management-port') };
  if (both.port !== both.managementPort || both.port === 0) return both;
  const [given, missing] = management === undefined ? ['--port', '--management-port'] : ['--management-port', '--port'];
  const isBoth = service !== undefined && management !== undefined;
  const what = isBoth ? '--port and --management-port are both' : `${missing} is`;
  const remedy = isBoth ? 'choose two' : `choose another ${given}, or give ${missing} too`;
  throw new UsageError(`${what} ${String(both.port)}${isBoth ? '' : ' already'}: ${remedy} (0: any free one)`);
}

/** Reads the URLs of the owner and of the API's role. Throws UsageError. */
function databases(
  owner: string | undefined,
  api: string | undefined,
): Pick<DevOptions, 'databaseUrl' | 'apiDatabaseUrl'> {
  if (api !== undefined && owner === undefined) {
    throw new UsageError('--api-database-url needs --database-url: the owner brings the schema up to date');
  }
  return {
    databaseUrl: databaseUrl('--database-url', 'owner', owner),
    apiDatabaseUrl: databaseUrl('--api-database-url', 'boxgate_api', api),
  };
}

/** Checks a URL. The error does not show it, because it may hold a password. Throws UsageError. */
function databaseUrl(option: string, role: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.username !== '') return text;
  throw new UsageError(`${option} must be a URL such as postgres://${role}:password@host:5432/database`);
}
