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
 * Lists a collection page by page; `keep` returns the needed part of each object (undefined: it is not an object of the
 * kind). After a long page it pauses for as long as that took, so that others have their turn. Throws KubeError if any
 * page fails: a list is complete, or there is none.
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
    const answer = await api.call({ path, query: { limit: String(limit), continue: next, labelSelector } }, signal);
    const page = pageOf(path, answer);
    let length = 0;
    for (const item of page.items) {
      const kept = keep(item);
      if (kept === undefined) throw new KubeError('garbled', `${path}: the list holds something else`);
      objects.push(kept);
      length += lengthOf?.(kept) ?? 0;
    }
    if (page.next === undefined) return { objects, resourceVersion: page.resourceVersion };
    next = page.next;
    limit = Math.min(pageSize, Math.max(1, Math.floor((page.items.length * longPage) / Math.max(1, length))));
    if (length > longPage) await sleep?.(performance.now() - begun, signal);
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
