import { createHash, randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import type { ServiceAccountSettings } from '../../api/client/cluster.ts';
import type { Adoption, ApplyResult } from '../../api/client/desired-state.ts';
import { readApiConfig } from '../../api/config.ts';
import type { Quota } from '../../crds/quota.ts';
import type { Environment } from '../../program/environment.ts';
import { createLog } from '../../program/log.ts';
import { createUiFiles } from '../../api/http/ui/ui-files.ts';
import { serveApi } from '../../api/serve.ts';
import { freshDatabase, homeOf } from './postgres.ts';
import type { TestDatabase } from './postgres.ts';
import { demandNoSecrets } from './secrets-in.ts';

/** A real API on a database of its own, in this process. */
export interface TestApi {
  readonly database: TestDatabase;
  /** The database that a box is on: `database`, but for half of the boxes of {@link onTwoDatabases}. */
  databaseOf(box: string): TestDatabase;
  /** `http://127.0.0.1:<port>`; a box is at `/boxes/<box>`. */
  readonly url: string;
  readonly managementUrl: string;
  readonly managementKey: string;
  /** Everything it has logged, a line an entry. */
  readonly logLines: readonly string[];
  /** Declares resources of a box through the management port, as the operator does; throws when one is not taken. */
  declare(box: string, resources: readonly DeclaredResource[]): Promise<readonly ApplyResult[]>;
  /** Sets quotas of a box as its Namespace does, and tries to declare resources: what becomes of each. */
  declareWithin(
    box: string,
    quota: Partial<Quota>,
    resources: readonly DeclaredResource[],
  ): Promise<readonly ApplyResult[]>;
  /** Removes what {@link TestApi.declare} declared, or takes its owner away. */
  remove(box: string, names: readonly RemovedResource[]): Promise<void>;
  /** Tells who makes the tokens of the cluster's ServiceAccounts, as the operator does; the version of its settings. */
  serviceAccounts(settings: ServiceAccountSettings | null): Promise<number>;
  /** Stops the API; the database stays when it was given. Throws when a secret is in its log. */
  stop(): Promise<void>;
}

/** A resource as a test writes it: `kind` says what it is; the `id` of a Group is its name. */
export type DeclaredResource = {
  readonly kind: 'Client' | 'AccessPolicy' | 'Box' | 'Group';
  readonly id: string;
  /** See DeclareLine; it is no field of the resource. */
  readonly adopt?: Adoption;
} & Readonly<Record<string, unknown>>;

/** A declared resource whose object goes; with `retain` its row stays, without an owner. */
export interface RemovedResource {
  readonly kind: string;
  readonly id: string;
  readonly retain?: boolean;
}

/** The key that seals the signing keys of every test API, so that two of them can share a database. */
export const testEncryptionKey = Buffer.alloc(32, 7).toString('base64');

/** The files of the admin UI, which are built once for all APIs of this process. */
export const uiFiles = createUiFiles();

/**
 * BOXGATE_TEST_DATABASES=2: APIs of tests serve two databases. That of the test is the second one, which half of the
 * boxes want, and among them `default`; the others are on a home database behind it.
 */
const onTwoDatabases = process.env['BOXGATE_TEST_DATABASES'] === '2';

/** Returns the database that the Namespace of a box names; undefined: it names none. */
function wantedDatabase(box: string): string | undefined {
  return onTwoDatabases && (createHash('sha256').update(box).digest()[9] ?? 0) % 2 === 1 ? 'eu' : undefined;
}

/** Starts an API on a fresh database, or on one that is shared; `environment` overrides its settings. */
export async function startApi(
  options: { readonly database?: TestDatabase; readonly environment?: Environment } = {},
): Promise<TestApi> {
  const database = options.database ?? (await freshDatabase());
  const home = onTwoDatabases ? await homeOf(database) : database;
  const managementKey = randomBytes(16).toString('hex');
  const config = readApiConfig({
    BOXGATE_DATABASE_URL: home.apiUrl,
    ...(onTwoDatabases && { BOXGATE_DATABASES: 'home,eu', BOXGATE_DATABASE_URL_EU: database.apiUrl }),
    BOXGATE_HOST: '127.0.0.1',
    BOXGATE_PORT: '0',
    BOXGATE_MANAGEMENT_PORT: '0',
    BOXGATE_MANAGEMENT_KEYS: managementKey,
    BOXGATE_ENCRYPTION_KEY: testEncryptionKey,
    BOXGATE_PUBLIC_URL: 'http://boxgate.test',
    // Callers of a test do not wait for the end of its API.
    BOXGATE_LINGER_SECONDS: '0',
    ...options.environment,
  });
  const { destination, lines } = collectedLines();
  const running = await serveApi(config, createLog(config.logLevel, destination), {
    throttleNow: standing,
    uiFiles,
  });
  const managementUrl = `http://127.0.0.1:${String(running.managementPort)}`;
  const manage = createManagement(managementUrl, managementKey);
  return {
    database,
    databaseOf: (box) => (onTwoDatabases && wantedDatabase(box) === undefined ? home : database),
    managementUrl,
    managementKey,
    url: `http://127.0.0.1:${String(running.port)}`,
    logLines: lines,
    declare: manage.declare,
    declareWithin: manage.declareWithin,
    remove: manage.remove,
    serviceAccounts: manage.serviceAccounts,
    async stop() {
      await running.stop();
      demandNoSecrets(lines);
      if (options.database === undefined) await database.drop();
    },
  };
}

/**
 * The clock of its throttle: no window ends in the middle of a test, so that as many failures count on every machine.
 */
const standing = (): number => 0;

/** Returns a destination of a log, and the lines that are written to it. */
export function collectedLines(): { destination: Writable; lines: string[] } {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(
        ...chunk
          .toString('utf8')
          .split('\n')
          .filter((line) => line !== ''),
      );
      done();
    },
  });
  return { destination, lines };
}

type Declaring = Pick<TestApi, 'declare' | 'declareWithin' | 'remove' | 'serviceAccounts'>;

/** Declares and removes over the management port of an API, also one in another process, in the name of a cluster. */
export function createManagement(url: string, key: string, cluster = 'test'): Declaring {
  let epoch: number | undefined;

  async function call(box: string, lines: readonly object[], more: object = {}): Promise<readonly ApplyResult[]> {
    epoch ??= await claimEpoch(url, key, cluster);
    const head = { cluster, epoch, complete: false, database: wantedDatabase(box), ...more };
    const response = await fetch(`${url}/boxes/${box}/apply`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/x-ndjson' },
      body: [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''),
    });
    const answers = (await response.text()).trim().split('\n').map(parse);
    if (!('config_version' in (answers.at(-1) ?? {})))
      throw new Error(`not applied: ${JSON.stringify(answers.at(-1))}`);
    return answers.slice(0, -1).filter(isResult);
  }

  return {
    async declare(box, resources) {
      const results = await call(
        box,
        resources.map((resource) => declareLine(box, resource)),
      );
      const refused = results.filter(({ result }) => !['created', 'updated', 'unchanged'].includes(result));
      if (refused.length > 0) throw new Error(`not declared: ${JSON.stringify(refused)}`);
      return results;
    },
    declareWithin: (box, quota, resources) =>
      call(
        box,
        resources.map((resource) => declareLine(box, resource)),
        { quota },
      ),
    async remove(box, names) {
      await call(
        box,
        names.map(({ kind, id, retain }) => ({ kind, id, owner: ownerOf(box, kind, id), delete: true, retain })),
      );
    },
    async serviceAccounts(settings) {
      epoch ??= await claimEpoch(url, key, cluster);
      const response = await fetch(`${url}/settings`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${key}` },
        body: JSON.stringify({ cluster, epoch, service_accounts: settings }),
      });
      const answer = parse(await response.text());
      if ('version' in answer) return Number(answer.version);
      throw new Error(`not stored: ${JSON.stringify(answer)}`);
    },
  };
}

function declareLine(box: string, { kind, id, adopt, ...fields }: DeclaredResource): object {
  const digest = randomBytes(8).toString('hex');
  const named = kind === 'Group' ? { name: id } : { id };
  const resource = { resourceType: kind, ...named, ...fields };
  return { kind, id, owner: ownerOf(box, kind, id), adopt, digest, resource };
}

function ownerOf(box: string, kind: string, id: string): { name: string; uid: string } {
  return { name: `${box}/${id}`, uid: `uid-of-${kind}-${id}` };
}

/** Claims the next epoch of a cluster. */
export async function claimEpoch(url: string, key: string, cluster: string): Promise<number> {
  const response = await fetch(`${url}/epoch`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}` },
    body: JSON.stringify({ cluster }),
  });
  const claimed: unknown = await response.json();
  if (typeof claimed === 'object' && claimed !== null && 'epoch' in claimed) return Number(claimed.epoch);
  throw new Error('no epoch was claimed');
}

function parse(line: string): object {
  const value: unknown = JSON.parse(line);
  return typeof value === 'object' && value !== null ? value : {};
}

function isResult(value: object): value is ApplyResult {
  return 'result' in value;
}
