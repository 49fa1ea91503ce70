import { isIPv6 } from 'node:net';
import type { Secret } from '../../api/client/secret.ts';
import { followRefusals, startApi, turnLog, type ApiProcess, type Ports } from './api-process.ts';
import { DevError } from '../options.ts';
import type { DevOutput } from '../output.ts';
import { keepRunning, type StopAtEnd } from '../keep-running.ts';
import type { ReadyDatabase } from './database.ts';
import { freePort } from './port.ts';
import { databaseSuffix } from '../../program/environment.ts';
import { SMALL_HEAP } from '../../program/small-heap.ts';
import type { StateFolder } from './state-folder.ts';

/** Settings of the API that `boxgate dev` passes on from its own environment: none that it sets itself. */
const HANDED_ON = [
  'BOXGATE_FAILURES_PER_CLIENT',
  'BOXGATE_FAILURES_PER_BOX',
  'BOXGATE_FAILURES_PER_SECRET',
  'BOXGATE_FAILURES_PER_ACCOUNT',
  'BOXGATE_LOG_LEVEL',
  'BOXGATE_JWKS_HOSTS',
  'BOXGATE_TRUSTED_PROXIES',
] as const;

/** Returns the settings in an environment that the API also gets. */
export function handedOn(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    HANDED_ON.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}

/** Options for running the API. */
export interface DevApiOptions {
  /** The program and arguments that start `boxgate`. */
  readonly self: readonly [string, ...string[]];
  /** Folder in which compiled code is kept. */
  readonly compileCache: string;
  /** The folder of the manifests, as messages name it. */
  readonly folder: string;
  readonly host: string;
  /** The address that callers reach it by; undefined: where it listens. */
  readonly publicUrl: string | undefined;
  /** 0: any free one. */
  readonly port: number;
  readonly managementPort: number;
  /** Home first. */
  readonly databases: readonly ReadyDatabase[];
  readonly managementKey: Secret;
  readonly state: StateFolder;
  readonly settings: Readonly<Record<string, string>>;
  /** Called after a restart of the API: the last calls to it may be lost. */
  readonly onRestart: () => void;
}

/** Addresses of the API; it is restarted whenever it ends by itself. */
export interface DevApi {
  readonly port: number;
  readonly publicUrl: string;
  readonly managementUrl: string;
}

/** Starts the API and keeps it running. Throws DevError if it does not start. */
export async function runApi(options: DevApiOptions, output: DevOutput, stopAtEnd: StopAtEnd): Promise<DevApi> {
  turnLog(options.state.apiLog);
  const first = await startOnFreePorts(options);
  const { onRestart } = options;
  const again = { name: 'The API', start: () => start(options, first), ending: saidAtTheEnd, onRestart };
  const stop = keepRunning(first, again, output.note);
  const unfollow = followRefusals(options.state.apiLog, output.note);
  stopAtEnd('The API', async () => {
    unfollow();
    await stop();
  });
  return {
    port: first.port,
    publicUrl: publicUrlOf(options, first.port),
    managementUrl: urlOf('127.0.0.1', first.managementPort),
  };
}

function saidAtTheEnd(said: unknown): string {
  return `(${String(said)})`;
}

const mostTries = 5;

/** Starts the API on free ports. Tries others if one is taken meanwhile, unless both were chosen by number. */
async function startOnFreePorts(options: DevApiOptions): Promise<ApiProcess> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort(options.port, '--port', 0, options.host);
    const managementPort = await freePort(options.managementPort, '--management-port');
    try {
      return await start(options, { port, managementPort });
    } catch (error) {
      const isChosen = options.port !== 0 && options.managementPort !== 0;
      const isTaken = error instanceof DevError && error.message.includes('in use');
      if (isChosen || !isTaken || tries === mostTries) throw error;
    }
  }
}

function start(options: DevApiOptions, { port, managementPort }: Ports) {
  const { self, compileCache, folder, state, databases, managementKey, settings } = options;
  const [program, ...args] = self;
  return startApi({
    command: [program, ...SMALL_HEAP, ...args, 'api'],
    logFile: state.apiLog,
    environment: {
      ...settings,
      BOXGATE_DATABASES: databases.map(({ name }) => name).join(','),
      ...Object.fromEntries(databases.map(databaseVariable)),
      BOXGATE_HOST: options.host,
      BOXGATE_PORT: String(port),
      BOXGATE_MANAGEMENT_PORT: String(managementPort),
      BOXGATE_MANAGEMENT_KEYS: managementKey.reveal(),
      BOXGATE_ENCRYPTION_KEY: state.keys.encryptionKey.reveal(),
      BOXGATE_PUBLIC_URL: publicUrlOf(options, port),
      BOXGATE_STANDALONE: 'true',
      BOXGATE_FOLDER: folder,
      // Whoever runs it sees at once why it cannot start, and it is started again.
      BOXGATE_WAIT_FOR_DATABASE: 'false',
      // A developer does not wait for the end of it.
      BOXGATE_LINGER_SECONDS: '0',
      NODE_COMPILE_CACHE: compileCache,
    },
  });
}

/** Returns the variable with the URL of a database; the name of that of home has no end. */
function databaseVariable({ name, url }: ReadyDatabase, index: number): readonly [string, string] {
  return [`BOXGATE_DATABASE_URL${index === 0 ? '' : databaseSuffix(name)}`, url.reveal()];
}

/** Returns the address that callers reach the API by. */
function publicUrlOf({ host, publicUrl }: DevApiOptions, port: number): string {
  const isEverywhere = /^[0:.]+$/.test(host);
  return publicUrl ?? urlOf(isEverywhere ? '127.0.0.1' : host, port);
}

function urlOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${String(port)}`;
}
