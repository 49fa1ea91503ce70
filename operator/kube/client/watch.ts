import type { Readable } from 'node:stream';
import { isObject, type JsonObject, parseJson } from '../../../crds/path.ts';
import type { KubeApi } from './kube-api.ts';
import { KubeError, noAnswer, statusError } from './kube-error.ts';
import type { Collection } from './list.ts';

/** Change of an object; BOOKMARK: no change up to the version of `object`. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: Readonly<Record<string, unknown>>;
}

/** Duration, longest silence and selection of a watch. */
export interface WatchTimes {
  /** Seconds until the server ends it; it sends a bookmark shortly before. */
  readonly timeoutSeconds: number;
  /** Milliseconds. */
  readonly silence: number;
  /** Only objects with these labels. */
  readonly labelSelector?: string | undefined;
  /** Called when the server has answered, before any event. */
  readonly onOpen?: (() => void) | undefined;
}

/** Collection that is watched, and the version since which. */
export interface WatchedCollection {
  readonly collection: Collection;
  readonly resourceVersion: string;
}

/**
 * Yields the events of a collection since a version, until the server ends the watch. Throws KubeError: `expired` if
 * the version is too old, `garbled` for an invalid event and for errors within the stream, which leave open what was
 * missed.
 */
export async function* watch(
  api: KubeApi,
  { collection, resourceVersion }: WatchedCollection,
  { timeoutSeconds, silence, labelSelector, onOpen }: WatchTimes,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  const query = {
    watch: true,
    resourceVersion,
    ...(labelSelector === undefined ? {} : { labelSelector }),
    allowWatchBookmarks: true,
    timeoutSeconds,
  };
  const stream = await api.stream((make) => collection.list(make, query), signal);
  onOpen?.();
  try {
    for await (const line of lines(stream, silence)) {
      // Events that still arrive after the abort are dropped.
      if (signal.aborted) return;
      yield eventOf(line);
    }
  } catch (error) {
    throw noAnswer(collection.plural, error);
  }
}

function eventOf(line: Buffer): WatchEvent {
  const { type, object } = members(textOf(line));
  if (type === 'ERROR') throw streamError(object);
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') {
    throw new KubeError('garbled', 'a watch holds an event of a type that nobody knows');
  }
  if (!isObject(object)) throw new KubeError('garbled', 'a watch holds an event without an object');
  return { type, object };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function textOf(line: Buffer): string {
  try {
    return decoder.decode(line);
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

/** Limit of a line, in bytes: no object is nearly as large, as etcd takes 1.5 MiB. */
const longestLine = 16 * 2 ** 20;

/**
 * Yields the lines of a stream, without their ends. Throws KubeError if nothing arrived for `silence` milliseconds, or
 * if the last line has no end. The stream is closed when the reader stops.
 */
export async function* lines(stream: Readable, silence: number): AsyncGenerator<Buffer, void, undefined> {
  const chunks: AsyncIterator<Uint8Array, undefined> = stream[Symbol.asyncIterator]();
  const rest = createRest();
  try {
    for (;;) {
      const { done, value } = await within(silence, stream, chunks.next());
      if (done === true) break;
      yield* rest.linesWith(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    }
    if (!rest.isEmpty()) throw new KubeError('garbled', 'a watch ended within a line');
  } finally {
    // Closing it too early for the sender is no error here.
    stream.on('error', () => undefined).destroy();
  }
}

/** Beginning of a line whose end has not arrived yet. */
interface Rest {
  /** Adds bytes; returns the lines that they complete, without empty ones. Throws KubeError for an endless line. */
  linesWith(bytes: Buffer): readonly Buffer[];
  isEmpty(): boolean;
}

/**
 * Creates an empty rest. Each byte is searched once: an object of a megabyte arrives in a hundred parts, and searching
 * all of them again with each part took most of the operator's time.
 */
function createRest(): Rest {
  let parts: Buffer[] = [];
  let length = 0;
  return {
    linesWith(bytes) {
      const complete: Buffer[] = [];
      let start = 0;
      for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
        const last = bytes.subarray(start, end);
        const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
        if (line.length > 0) complete.push(line);
        [parts, length, start] = [[], 0, end + 1];
      }
      if (start < bytes.length) parts.push(bytes.subarray(start));
      length += bytes.length - start;
      if (length > longestLine) throw new KubeError('garbled', 'a line of a watch has no end');
      return complete;
    },
    isEmpty: () => length === 0,
  };
}

const LINE_FEED = 0x0a;

/** Waits for work; ends the stream, and with it the work, if nothing arrives. */
async function within<T>(silence: number, stream: Readable, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => {
    stream.destroy(new KubeError('unavailable', `a watch was silent for ${String(silence)} ms`));
  }, silence);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
