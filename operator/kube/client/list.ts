import { isObject } from '../../../crds/path.ts';
import type { KubeApi, MakeApi } from './kube-api.ts';
import { KubeError } from './kube-error.ts';

/** Every object of a kind at one moment. */
export interface Listed<T> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
}

/** Parameters of a generated list method, which watches too. */
export interface ListQuery {
  readonly limit?: number;
  readonly _continue?: string;
  readonly labelSelector?: string;
  readonly watch?: boolean;
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  readonly timeoutSeconds?: number;
}

/** A kind of objects, in all namespaces or in one. */
export interface Collection {
  /** Plural name of the kind, for messages. */
  readonly plural: string;
  /** Calls the generated method that lists them. */
  readonly list: (api: MakeApi, query: ListQuery) => Promise<unknown>;
}

/** Options of the list of a collection. */
export interface ListOptions {
  readonly collection: Collection;
  /** Objects of one answer at most. */
  readonly pageSize: number;
  /** Only objects with these labels. */
  readonly labelSelector?: string | undefined;
}

/** Most bytes of a page with several objects: nothing else runs while it is parsed. A single object has 1.5 MB. */
const longest = 2_097_152;

/**
 * Lists a collection page by page; `keep` returns the needed part of each object (undefined: it is not an object of the
 * kind). A page that is too large is given up, and requested again with fewer objects. Throws KubeError if any page
 * fails: a list is complete, or there is none.
 */
export async function list<T>(
  api: KubeApi,
  { collection, pageSize, labelSelector }: ListOptions,
  keep: (object: unknown) => T | undefined,
  signal: AbortSignal,
): Promise<Listed<T>> {
  const objects: T[] = [];
  let next: string | undefined;
  let limit = pageSize;
  /** Pages in a row that were not too large. */
  let fitting = 0;
  for (;;) {
    const query = {
      limit,
      ...(next === undefined ? {} : { _continue: next }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    };
    const answer = api.call((make) => collection.list(make, query), signal, limit > 1 ? { longest } : {});
    const page = await readPage(answer, collection.plural);
    if (page === undefined) {
      limit = Math.max(1, Math.floor(limit / 4));
      fitting = 0;
      continue;
    }
    for (const item of page.items) {
      const kept = keep(item);
      if (kept === undefined) throw new KubeError('garbled', `${collection.plural}: the list holds something else`);
      objects.push(kept);
    }
    if (page.next === undefined) return { objects, resourceVersion: page.resourceVersion };
    next = page.next;
    fitting += 1;
    // What follows may be smaller than what came before.
    if (fitting % 4 === 0) limit = Math.min(pageSize, 2 * limit);
  }
}

/** Reads a page; undefined if it is too large. Throws KubeError. */
async function readPage(answer: Promise<unknown>, plural: string) {
  try {
    return pageOf(plural, await answer);
  } catch (error) {
    if (error instanceof KubeError && error.code === 'too-large') return undefined;
    throw error;
  }
}

function pageOf(plural: string, answer: unknown) {
  const { metadata, items } = isObject(answer) ? answer : {};
  if (!isObject(metadata) || typeof metadata['resourceVersion'] !== 'string' || !Array.isArray(items)) {
    throw new KubeError('garbled', `${plural}: the answer is not a list`);
  }
  const next = metadata['continue'];
  const unknown: readonly unknown[] = items;
  return {
    items: unknown,
    resourceVersion: metadata['resourceVersion'],
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}
