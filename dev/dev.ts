import { createSecretKey, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createManagement } from '../api/client/management.ts';
import { ManagementError } from '../api/client/management-error.ts';
import { Secret } from '../api/client/secret.ts';
import { startReconciler, type Reconciler } from '../operator/reconcile/reconciler.ts';
import type { StopAtEnd } from './keep-running.ts';
import { openDatabases } from './processes/database.ts';
import { runApi, type DevApi } from './processes/dev-api.ts';
import { DevError } from './options.ts';
import { createDevOutput, type DevOutput, type DevStreams } from './output.ts';
import { FolderReader } from './folder/reader.ts';
import { createFolderSource } from './folder/source.ts';
import { reasonOf } from '../api/client/manifest/walk.ts';
import { createSecretFiles, type SecretFiles } from './folder/generated-secrets.ts';
import { printNextSteps } from './next-steps.ts';
import type { DevOptions } from './options.ts';
import { choosePorts } from './processes/port.ts';
import { giveBackMemory } from '../program/small-heap.ts';
import { schedule } from '../program/scheduling.ts';
import { shortPath } from './hints.ts';
import { openStateFolder, type StateFolder } from './processes/state-folder.ts';

/** Dependencies of `boxgate dev` on its process. */
export interface DevProcess extends DevStreams {
  readonly cwd: string;
  /** The program and arguments that start `boxgate`, to be followed by a command. */
  readonly self: readonly [string, ...string[]];
  /** Folder in which compiled code is kept. */
  readonly compileCache: string;
  /** Settings of the API, by their variables. */
  readonly apiSettings: Readonly<Record<string, string>>;
}

/** Cluster name of the rows of a folder: rows of other clusters are not ours. */
const cluster = 'standalone';
const sweepPeriod = 45_000;
const usualPort = 8080;
/** Milliseconds within which the API of a killed `boxgate dev` releases its ports. */
const apiLeaves = 5_000;

/**
 * Serves the declarations of a folder until `signal` is aborted; resolves with the exit code. Throws DevError (one
 * sentence) if it cannot start or continue.
 */
export async function dev(options: DevOptions, self: DevProcess, signal: AbortSignal): Promise<number> {
  const output = createDevOutput(self, () => performance.now());
  const closing = new AsyncDisposableStack();
  const stopAtEnd: StopAtEnd = (name, stop) =>
    closing.defer(async () => {
      try {
        await stop();
      } catch (error) {
        output.note(`${name} did not stop: ${messageOf(error)}`);
      }
    });
  try {
    return await serve({ options, self, output, stopAtEnd, signal });
  } catch (error) {
    if (signal.aborted) return 0;
    throw explained(error);
  } finally {
    output.progress.clear();
    await closing.disposeAsync();
  }
}

interface Run {
  readonly options: DevOptions;
  readonly self: DevProcess;
  readonly output: DevOutput;
  readonly stopAtEnd: StopAtEnd;
  readonly signal: AbortSignal;
}

async function serve(run: Run): Promise<number> {
  const { options, self, output, stopAtEnd, signal } = run;
  checkFolder(options.folder);
  const state = openStateFolder(options.state);
  stopAtEnd('The state folder', () => state.release());
  // Before anything slow: if ports are in use, the user can choose others immediately.
  const patience = state.isTakenOver ? apiLeaves : 0;
  const [port, managementPort] = await choosePorts(
    { host: options.host, port: options.port, usual: usualPort, option: '--port' },
    { host: '127.0.0.1', port: options.managementPort, usual: 8081, option: '--management-port' },
    patience,
  );
  const [reader, databases] = await both(
    listedFolder(run),
    openDatabases(
      {
        self: self.self,
        ownerUrl: options.databaseUrl,
        apiUrl: options.apiDatabaseUrl,
        file: options.databases,
        state,
      },
      output,
      stopAtEnd,
    ),
  );
  signal.throwIfAborted();

  const managementKey = new Secret(randomBytes(24).toString('hex'));
  const restart = { sweep: (): void => undefined };
  const api = await runApi(
    {
      host: options.host,
      publicUrl: options.publicUrl,
      port,
      managementPort,
      self: self.self,
      compileCache: self.compileCache,
      folder: shortPath(options.folder, self.cwd),
      databases,
      managementKey,
      state,
      onRestart: () => restart.sweep(),
      settings: self.apiSettings,
    },
    output,
    stopAtEnd,
  );
  signal.throwIfAborted();

  const secrets = createSecretFiles(
    state.secrets,
    () => new Date(),
    (box, created) => output.secretFiles(box, created, self.cwd),
  );
  const reconciler = reconcile(run, { reader, state, api, managementKey, keeper: secrets });
  stopAtEnd('The reconciler', () => reconciler.stop());
  restart.sweep = () => reconciler.sweep();
  await Promise.race([reconciler.firstRound, reconciler.failed, aborted(signal)]);
  giveBackMemory();
  output.unapplied(new Set(reconciler.failing.keys()));
  if (!output.hasObjects && reconciler.failing.size === 0)
    output.note(
      `Nothing is declared: ${options.folder} has no manifest of boxgate.dev/v1 (Client, AccessPolicy, Group or Box)`,
    );
  if (options.once) return output.isAllGood && reconciler.failing.size === 0 ? 0 : 1;
  if (options.port === undefined && api.port !== usualPort)
    output.note(`Port ${String(usualPort)} is in use: this is served on ${String(api.port)}; --port chooses another`);
  printNextSteps(output, { publicUrl: api.publicUrl, secrets, reader, cwd: self.cwd });
  output.result(`ready ${api.publicUrl}`);
  return Promise.race([reconciler.failed, aborted(signal)]);
}

/** Checks that the folder can be read, before a state folder is created in it. Throws DevError. */
function checkFolder(folder: string): void {
  try {
    readdirSync(folder);
  } catch (error) {
    throw new DevError(`The folder ${folder} cannot be read: ${reasonOf(error)}`);
  }
}

async function listedFolder({ options, self, output }: Run): Promise<FolderReader> {
  const reader = new FolderReader({
    folder: options.folder,
    excluded: options.state,
    display: (file) => shortPath(file, self.cwd),
    onProgress: (done, of) => output.progress.report('reading files', done, of),
    now: () => performance.now(),
  });
  await reader.listAll();
  output.problems(reader.problems());
  return reader;
}

/** Waits for both; if one fails it still waits for the other, so that anything that one started can be stopped. */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

/** Parts that the reconciler connects: the folder and its secrets on one side, the API on the other. */
interface ReconcilerParts {
  readonly reader: FolderReader;
  readonly state: StateFolder;
  readonly api: DevApi;
  readonly managementKey: Secret;
  readonly keeper: SecretFiles;
}

function reconcile(
  { options, output }: Run,
  { reader, state, api, managementKey, keeper }: ReconcilerParts,
): Reconciler {
  const source = createFolderSource(reader, options.folder, {
    onProblems: (problems) => output.problems(problems),
    onEmpty: (box) => output.suspended(box),
    async writeStatus(_box, changed, gone) {
      output.statuses(changed, gone);
    },
  });
  return startReconciler({
    source,
    keeper,
    events: { record: (event) => output.event(event) },
    cluster,
    sweepPeriod,
    management: createManagement({ url: api.managementUrl, key: managementKey }),
    digestKey: createSecretKey(state.keys.digestKey.reveal(), 'base64'),
    defaultIssuer: (box) => `${api.publicUrl}/boxes/${box}`,
    now: () => new Date(),
    random: Math.random,
    schedule,
    onProgress: (box, { done, of }) => output.progress.report(`${box}: hashing secrets`, done, of),
    onFailure: (box, error) => output.failure(box, messageOf(error)),
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error('asked to stop'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

function explained(error: unknown): unknown {
  if (!(error instanceof ManagementError)) return error;
  if (error.code === 'fenced') return new DevError('Another boxgate has taken over this database; this one stops');
  return new DevError(`The API does not take what is declared: ${error.message}`, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
