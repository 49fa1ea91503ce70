import { API_GROUP, type Kind, KINDS } from '../../../crds/kind.ts';
import type { InstalledKinds, InstalledFields } from '../../desired/source.ts';
import { metadataOf } from '../client/kube-object.ts';
import type { ListWatchOptions } from '../client/list-watch.ts';
import { ApiextensionsV1Api } from '@kubernetes/client-node';
import type { CallOptions, KubeApi } from '../client/kube-api.ts';
import { unlessMissing } from '../client/kube-error.ts';
import { isObject } from '../../../crds/path.ts';
import { fieldsBeyond } from '../../../crds/unimplemented-fields.ts';
import { schemaNode } from '../../../crds/schema-node.ts';
import { manifestSchemas } from '../../../crds/manifest-schema.ts';
import { statusSchemas } from '../../../crds/status.ts';

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
    const generation = generationOf(await readDefinition(options.api, kind, signal, { metadataOnly: true }));
    if (generations.get(kind) === generation) return;
    const found = installedFields(kind, await readDefinition(options.api, kind, signal));
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

function generationOf(definition: unknown): unknown {
  const { uid, generation } = metadataOf(definition);
  return `${String(uid)} ${String(generation)}`;
}

/**
 * Checks past every cache whether the definition of a kind is being deleted, or gone: the API server then deletes every
 * object of it (Kubernetes, custom resources: deleting a CustomResourceDefinition). Throws KubeError when it cannot be
 * read.
 */
export async function isDefinitionGoing(api: KubeApi, kind: Kind, signal: AbortSignal): Promise<boolean> {
  const found = await unlessMissing(readDefinition(api, kind, signal, { metadataOnly: true }));
  return found === undefined || typeof metadataOf(found)['deletionTimestamp'] === 'string';
}

/** Reads the definition of a kind. Throws KubeError. */
function readDefinition(
  api: KubeApi,
  kind: Kind,
  signal: AbortSignal,
  options: Pick<CallOptions, 'metadataOnly'> = {},
): Promise<unknown> {
  const name = `${KINDS[kind].plural}.${API_GROUP}`;
  return api.call((make) => make(ApiextensionsV1Api).readCustomResourceDefinition({ name }), signal, options);
}

/** Compares a CustomResourceDefinition with this release; returns undefined if it does not serve our version. */
function installedFields(kind: Kind, definition: unknown): InstalledFields | undefined {
  const versions: unknown = isObject(definition) && isObject(definition['spec']) ? definition['spec']['versions'] : [];
  const served = (Array.isArray(versions) ? versions.filter(isObject) : []).find(
    ({ name, served: isServed }) => name === 'v1' && isServed === true,
  );
  const schema = isObject(served?.['schema']) ? served['schema']['openAPIV3Schema'] : undefined;
  const properties = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(properties)) return undefined;
  const spec = schemaNode(manifestSchemas[kind].properties.spec);
  const status = schemaNode(statusSchemas[kind]);
  return {
    newer: new Set(fieldsBeyond(properties['spec'], spec)),
    missing: new Set(fieldsBeyond(spec, properties['spec'])),
    unwritable: new Set(fieldsBeyond(status, properties['status'])),
  };
}

/** Returns one line for each way in which the definitions differ, with what to do; empty if they do not differ. */
export function skewLines(kinds: InstalledKinds): readonly string[] {
  return Object.values(KINDS).flatMap(({ kind }) => {
    const found = kinds.get(kind);
    if (found === undefined) return [];
    const { newer, missing, unwritable } = found;
    const older = [...missing, ...[...unwritable].map((field) => `status.${field}`)];
    const lines: string[] = [];
    if (older.length > 0) lines.push(`the definition of ${kind} lacks ${older.join(', ')}: kubectl apply -f crds/`);
    if (newer.size > 0) lines.push(`the definition of ${kind} has ${[...newer].join(', ')}: update the operator`);
    return lines;
  });
}
