import { isObject } from '../../../crds/json-value.ts';
import type { KubeApi } from './kube-api.ts';
import { KubeError } from './kube-error.ts';

/** Every object of a kind at one moment. */
export interface Listed<T> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
}

/** Collection that is listed. */
export interface Collection<T> {
  readonly path: string;
  /** Objects of one answer at most. */
  readonly pageSize: number;
  /** Only objects with these labels. */
  readonly labelSelector?: string | undefined;
  /** Returns the characters of an object; absent: all are small. */
  readonly lengthOf?: ((kept: T) => number) | undefined;
  /** Resolves after that many milliseconds, and immediately when aborted. */
  readonly sleep?: (wait: number, signal: AbortSignal) => Promise<void>;
}

/** Characters of objects beyond which a page is long: then the next one has fewer objects. */
const longPage = 2_097_152;

/**
 * Most bytes of a page. The operator has 256 MiB, and reading and parsing takes several times as much; a single object
 * always fits, because etcd takes 1.5 MB at most.
 */
const longestAnswer = 8_388_608;

/**
 * Lists a collection page by page; `keep` returns the needed part of each object (undefined: it is not an object of the
 * kind). After a long page it pauses for as long as that took, so that others have their turn; a page that is too large
 * is given up, and requested again with fewer objects. Throws KubeError if any page fails: a list is complete, or there
 * is none.
 */
export async function list<T>(
  api: KubeApi,
  { path, pageSize, labelSelector, lengthOf, sleep }: Collection<T>,
  keep: (object: unknown) => T | undefined,
  signal: AbortSignal,
): Promise<Listed<T>> {
  const objects: T[] = [];
  let next: string | undefined;
  let limit = pageSize;
  for (;;) {
    const begun = performance.now();
    const query = { limit: String(limit), continue: next, labelSelector };
    const page = await readPage(api.call({ path, query, longest: longestAnswer }, signal), path, limit);
    if (page === undefined) {
      limit = Math.max(1, Math.floor(limit / 4));
      continue;
    }
    let length = 0;
    for (const item of page.items) {
      const kept = keep(item);
      if (kept === undefined) throw new KubeError('garbled', `${path}: the list holds something else`);
      objects.push(kept);
      length += lengthOf?.(kept) ?? 0;
    }
    if (page.next === undefined) return { objects, resourceVersion: page.resourceVersion };
    next = page.next;
    const fitting = Math.max(1, Math.floor((page.items.length * longPage) / Math.max(1, length)));
    // What follows may be larger than what came before.
    limit = Math.min(pageSize, 2 * limit, fitting);
    if (length > longPage) await sleep?.(performance.now() - begun, signal);
  }
}

/** Reads a page; undefined if it is too large, and a shorter one may not be. Throws KubeError. */
async function readPage(answer: Promise<unknown>, path: string, limit: number) {
  try {
    return pageOf(path, await answer);
  } catch (error) {
    if (limit > 1 && error instanceof KubeError && error.code === 'too-large') return undefined;
    throw error;
  }
}

function pageOf(path: string, answer: unknown) {
  const { metadata, items } = isObject(answer) ? answer : {};
  if (!isObject(metadata) || typeof metadata['resourceVersion'] !== 'string' || !Array.isArray(items)) {
    throw new KubeError('garbled', `${path}: the answer is not a list`);
  }
  const next = metadata['continue'];
  const unknown: readonly unknown[] = items;
  return {
    items: unknown,
    resourceVersion: metadata['resourceVersion'],
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}
