import { KINDS, type Kind } from '../../../crds/kind.ts';
import { installedFields, type InstalledKinds } from '../../installed-fields.ts';
import { definitionPath } from './definition.ts';
import type { KubeApi } from '../client/kube-api.ts';
import { metadataOf } from '../client/kube-object.ts';
import type { ListWatchOptions } from '../client/list-watch.ts';

/** Definitions of our kinds in the cluster, read periodically until aborted. */
export interface InstalledDefinitions {
  /** Resolves when each was read once, successfully or not; never rejects. */
  readonly asked: Promise<void>;
  /** Returns a new object whenever a definition changed. */
  readonly kinds: () => InstalledKinds;
  /** Registers a callback for each change. */
  readonly onChange: (callback: () => void) => void;
}

/** Milliseconds between two rounds: a metadata read of each definition, and a full read of each that changed. */
const period = 10_000;

/** Dependencies of following the definitions. */
export type DefinitionsOptions = Pick<ListWatchOptions<never>, 'api' | 'sleep' | 'onFailure'>;

/** Starts to follow the definitions. One that was never read is assumed to be of this release. */
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
    // Even if its fields are the same as at the last look: they may have been different in between.
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
  return api.call({ path: definitionPath(kind), metadataOnly }, signal);
}

function generationOf(definition: unknown): unknown {
  const { uid, generation } = metadataOf(definition);
  return `${String(uid)} ${String(generation)}`;
}
