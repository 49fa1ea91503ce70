import { isObject, parseJson } from '../../../crds/json-value.ts';
import type { JsonObject } from '../../../crds/json-value.ts';
import type { KubeApi } from './kube-api.ts';
import { KubeError, noAnswer, statusError } from './kube-error.ts';
import { withoutLongSpec, type EventText } from './long-spec.ts';
import { lines } from './read-lines.ts';

/** Change of an object; BOOKMARK: no change up to the version of `object`. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: Readonly<Record<string, unknown>>;
  /** Characters of the object's spec as JSON, if it is so long that only its short members were read. */
  readonly specLength?: number;
}

/** Duration, longest silence and selection of a watch, and how much it reads. */
export interface WatchTimes {
  /** Seconds until the server ends it; it sends a bookmark shortly before. */
  readonly timeoutSeconds: number;
  /** Milliseconds. */
  readonly silence: number;
  /** Only objects with these labels. */
  readonly labelSelector?: string | undefined;
  /** Characters of a spec beyond which only its short members are read; absent: every spec is read. */
  readonly longestSpec?: number | undefined;
}

/** Collection that is watched, and the version since which. */
export interface WatchedCollection {
  readonly path: string;
  readonly resourceVersion: string;
}

/**
 * Yields the events of a path since a version, until the server ends the watch. Throws KubeError: `expired` if the
 * version is too old, `garbled` for an invalid event and for errors within the stream, which leave open what was
 * missed.
 */
export async function* watch(
  api: KubeApi,
  { path, resourceVersion }: WatchedCollection,
  { timeoutSeconds, silence, labelSelector, longestSpec = Infinity }: WatchTimes,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  const query = {
    watch: 'true',
    resourceVersion,
    labelSelector,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(timeoutSeconds),
  };
  const stream = await api.stream({ path, query }, signal);
  try {
    for await (const line of lines(stream, silence)) {
      // Events that still arrive after the abort are dropped.
      if (signal.aborted) return;
      yield eventOf(line, longestSpec);
    }
  } catch (error) {
    throw noAnswer(path, error);
  }
}

function eventOf(line: Buffer, longestSpec: number): WatchEvent {
  const { text, specLength } = textOf(line, longestSpec);
  const { type, object } = members(text);
  if (type === 'ERROR') throw streamError(object);
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') {
    throw new KubeError('garbled', 'a watch holds an event of a type that nobody knows');
  }
  if (!isObject(object)) throw new KubeError('garbled', 'a watch holds an event without an object');
  return { type, object, ...(specLength !== undefined && { specLength }) };
}

function textOf(line: Buffer, longestSpec: number): EventText {
  try {
    return withoutLongSpec(line, longestSpec);
  } catch (cause) {
    throw new KubeError('garbled', 'a watch is not UTF-8', { cause });
  }
}

function members(text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new KubeError('garbled', 'a watch holds a line that is no event');
}

function streamError(object: unknown): KubeError {
  const error = statusError(object);
  if (error.code === 'expired') return error;
  const { message, status, retryAfter } = error;
  return new KubeError('garbled', `a watch ended with an error: ${message}`, { status, retryAfter });
}
