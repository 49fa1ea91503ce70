import { API_GROUP, KINDS, type Kind } from '../../crds/kind.ts';
import { isRecord } from '../../crds/schema-node.ts';
import { installedFields, type InstalledKinds } from '../installed-fields.ts';
import { DEFINITIONS } from './definition.ts';
import type { KubeApi } from './kube-api.ts';
import type { ListWatchOptions } from './list-watch.ts';

/** The definitions of our kinds as the cluster has them, looked at again and again until aborted. */
export interface InstalledDefinitions {
  /** Resolves when each was asked for once, whether or not it could be read; never rejects. */
  readonly asked: Promise<void>;
  /** Another object whenever a definition changed. */
  readonly kinds: () => InstalledKinds;
  /** Has a callback called with each change. */
  readonly onChange: (callback: () => void) => void;
}

/** Milliseconds between two looks: a metadata read of each definition, and the whole of one that changed. */
const period = 10_000;

/** The parts that following takes. */
export type DefinitionsOptions = Pick<ListWatchOptions<never>, 'api' | 'sleep' | 'onFailure'>;

/** Begins to follow the definitions. One that cannot be read is taken to be of this release, as long as nothing is known. */
export function followDefinitions(options: DefinitionsOptions, signal: AbortSignal): InstalledDefinitions {
  const generations = new Map<Kind, unknown>();
  const callbacks: (() => void)[] = [];
  const asked = Promise.withResolvers<undefined>();
  let kinds: InstalledKinds = new Map();

  async function look(kind: Kind): Promise<void> {
    const generation = generationOf(await read(options.api, kind, true, signal));
    if (generations.get(kind) === generation) return;
    const found = installedFields(kind, await read(options.api, kind, false, signal));
    generations.set(kind, generation);
    // Also where nothing of it is another than at the last look: between two looks it may have been another one.
    const others = [...kinds].filter(([other]) => other !== kind);
    kinds = new Map(found === undefined ? others : [...others, [kind, found]]);
    for (const callback of callbacks) callback();
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      for (const { kind } of Object.values(KINDS)) {
        await look(kind).catch((error: unknown) => {
          if (!signal.aborted) options.onFailure(error, period);
        });
      }
      asked.resolve(undefined);
      await options.sleep(period, signal);
    }
  }

  void run();
  return {
    asked: asked.promise.then(() => undefined),
    kinds: () => kinds,
    onChange: (callback) => void callbacks.push(callback),
  };
}

function read(api: KubeApi, kind: Kind, metadataOnly: boolean, signal: AbortSignal): Promise<unknown> {
  return api.call({ path: `${DEFINITIONS}/${KINDS[kind].plural}.${API_GROUP}`, metadataOnly }, signal);
}

function generationOf(definition: unknown): unknown {
  const metadata = isRecord(definition) && isRecord(definition['metadata']) ? definition['metadata'] : {};
  return `${String(metadata['uid'])} ${String(metadata['generation'])}`;
}
