import { isObject } from '../../../crds/path.ts';
import { metadataOf, type ClusterBox, type Found } from './cluster-box.ts';
import { comparableText } from './comparable-text.ts';

/** State of a box in the cluster, without values that differ from run to run. */
export interface ClusterFacts {
  readonly objects: readonly unknown[];
  readonly secrets: readonly unknown[];
  /** Placeholder of each object, by uid. */
  readonly names: ReadonlyMap<string, string>;
}

const kinds = ['Client', 'AccessPolicy', 'Box'] as const;

/** Reads the statuses and finalizers of all objects, and what the Secrets have beside their values. */
export async function readClusterFacts(box: ClusterBox): Promise<ClusterFacts> {
  const lists = await Promise.all(kinds.map(async (kind) => (await box.list(kind)).map((found) => ({ kind, found }))));
  const all = lists.flat();
  const names = new Map(
    all.map(({ kind, found }) => [
      String(metadataOf(found)['uid']),
      `uid of ${kind} ${String(metadataOf(found)['name'])}`,
    ]),
  );
  names.set(box.name, 'BOX');
  return {
    objects: all.map(({ kind, found }) => comparableText(objectFacts(kind, found), names)).sort(),
    secrets: (await box.secrets()).map((found) => comparableText(secretFacts(found), names)).sort(),
    names,
  };
}

function objectFacts(kind: string, found: Found): object {
  const { name, generation, finalizers, deletionTimestamp } = metadataOf(found);
  const status: Found = isObject(found['status']) ? found['status'] : {};
  // What is counted once an hour is as it was at the time of the count.
  const { conditions, sessions: _1, lastTokenAt: _2, previousSecretLastUsed: _3, lastUsed: _4, ...rest } = status;
  const told = Array.isArray(conditions) ? conditions.filter(isObject).map(conditionFacts) : [];
  return { kind, name, generation, finalizers, isGoing: deletionTimestamp !== undefined, ...rest, conditions: told };
}

function conditionFacts({ lastTransitionTime: _time, ...condition }: Found): object {
  return condition;
}

/**
 * Key left out of the comparison: an operator that created the Secret again may not know the old text. The old secret
 * is still valid, as its row shows.
 */
const previousText = '.boxgate-previous';

function secretFacts(found: Found): object {
  const { name, labels, annotations, ownerReferences, finalizers } = metadataOf(found);
  const notes = isObject(annotations) ? Object.keys(annotations).sort() : [];
  const entries = isObject(found['data']) ? Object.keys(found['data']).sort() : [];
  const keys = entries.filter((key) => key !== previousText);
  return { name, labels, notes, ownerReferences, finalizers, type: found['type'], keys };
}
