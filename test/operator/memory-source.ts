import type { BoxDatabase, BoxQuota, Source } from '../../operator/desired/source.ts';
import type { Declared, DeclaredSecret } from '../../operator/desired/declared.ts';
import type { ObjectStatus } from '../../operator/status/object-status.ts';
import { resolveKept, type SecretKeeper, type SecretRequest } from '../../operator/secrets/keeper.ts';
import type { ResolvedSecret } from '../../operator/secrets/resolve.ts';
import { nextSecret, type KeptSecret } from '../../operator/secrets/rotation.ts';
import { Secret } from '../../api/client/secret.ts';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';

/** A source whose objects a test sets as it likes. */
export interface MemorySource extends Source {
  statusesInTurn?: number;
  list: Source['list'];
  namespaceOf?: NonNullable<Source['namespaceOf']>;
  finalizers?: NonNullable<Source['finalizers']>;
  keepService?: NonNullable<Source['keepService']>;
  objects: readonly Declared[];
  secrets: readonly DeclaredSecret[];
  /** Quota annotations of the Namespace. */
  quota?: BoxQuota;
  /** Database annotation of the Namespace. */
  database?: BoxDatabase;
  complete: boolean;
  /** Objects that are there though the list does not have them: what a live look finds. */
  hidden: readonly Declared[];
  /** Statuses published last, by object key. */
  readonly statuses: Map<string, ObjectStatus>;
  /** Count of all published statuses. */
  published: number;
  readonly gone: string[];
}

/** A source with nothing in it. */
export function memorySource(): MemorySource {
  const source: MemorySource = {
    objects: [],
    secrets: [],
    complete: true,
    hidden: [],
    statuses: new Map(),
    published: 0,
    gone: [],
    boxes: () => Promise.resolve([...new Set(source.objects.map(({ namespace }) => namespace))]),
    list: (box) =>
      Promise.resolve({
        objects: source.objects.filter(({ namespace }) => namespace === box),
        complete: source.complete,
        ...(source.quota === undefined ? {} : { quota: source.quota }),
        ...(source.database === undefined ? {} : { database: source.database }),
      }),
    async boxSecrets() {
      const named = new Map(source.secrets.map((secret) => [secret.name, secret]));
      return { find: (name) => named.get(name), isTaken: (name) => named.has(name) };
    },
    watch: () => undefined,
    confirmGone: (_box, objects) =>
      Promise.resolve(
        new Set(
          objects.filter(({ kind, name }) => !source.hidden.some((one) => one.kind === kind && one.name === name)),
        ),
      ),
    async writeStatus(_box, changed, gone) {
      source.published += changed.length;
      for (const status of changed) source.statuses.set(`${status.kind}/${status.name}`, status);
      source.gone.push(...gone.map(({ kind, name }) => `${kind}/${name}`));
    },
  };
  return source;
}

/** Generated secrets in memory. */
export interface MemoryKeeper extends SecretKeeper {
  /** By name of the Secret. */
  readonly kept: Map<string, KeptSecret & { readonly request: SecretRequest }>;
  /** Names of Secrets that stay though no object wants them. */
  readonly released: Set<string>;
  /** Count of all requests read. */
  looks: number;
  /** Current time of the source. */
  now: Date;
}

/** A keeper with nothing in it. */
export function memoryKeeper(): MemoryKeeper {
  const kept: MemoryKeeper['kept'] = new Map();
  const keeper: MemoryKeeper = {
    kept,
    released: new Set(),
    looks: 0,
    now: new Date('2026-01-01'),
    async keep(_box, requests) {
      keeper.looks += requests.length;
      const resolved = new Map<string, ResolvedSecret>();
      for (const request of requests) {
        const { secret, client, rotation, applied, hadGeneratedSecret, usage } = request;
        const [last, time] = [kept.get(secret), keeper.now.getTime()];
        const situation = { found: last, last, applied, hadGeneratedSecret, rotation, usage, now: time };
        const next = nextSecret(situation, () => new Secret(generateClientSecret())).kept;
        kept.set(secret, { ...next, request });
        resolved.set(client, resolveKept(next, '', request, time));
      }
      return resolved;
    },
    version: () => '',
    async names() {
      const names = [...kept.keys()].filter((name) => !keeper.released.has(name));
      return names.map((name) => ({ name, uid: kept.get(name)?.request.uid ?? '' }));
    },
    async release(_box, names) {
      for (const { name } of names) keeper.released.add(name);
      return [];
    },
    leave() {
      // It remembers no text.
    },
    async forget(_box, names) {
      for (const { name } of names) kept.delete(name);
    },
  };
  return keeper;
}
