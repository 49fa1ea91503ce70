import { isObject } from '../../../crds/json-value.ts';
import type { KubeApi } from './kube-api.ts';
import { KubeError } from './kube-error.ts';

/** Every object of a kind at one moment. */
export interface Listed<T> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
}

/** Collection that is listed. */
export interface Collection {
  readonly path: string;
  /** Objects of one answer at most. */
  readonly pageSize: number;
  /** Only objects with these labels. */
  readonly labelSelector?: string | undefined;
}

/**
 * Lists a collection page by page; `keep` returns the needed part of each object (undefined: it is not an object of the
 * kind). Throws KubeError if any page fails: a list is complete, or there is none.
 */
export async function list<T>(
  api: KubeApi,
  { path, pageSize, labelSelector }: Collection,
  keep: (object: unknown) => T | undefined,
  signal: AbortSignal,
): Promise<Listed<T>> {
  const objects: T[] = [];
  let next: string | undefined;
  for (;;) {
    const answer = await api.call({ path, query: { limit: String(pageSize), continue: next, labelSelector } }, signal);
    const page = pageOf(path, answer);
    for (const item of page.items) {
      const kept = keep(item);
      if (kept === undefined) throw new KubeError('garbled', `${path}: the list holds something else`);
      objects.push(kept);
    }
    if (page.next === undefined) return { objects, resourceVersion: page.resourceVersion };
    next = page.next;
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
