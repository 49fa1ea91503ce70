import type { Readable } from 'node:stream';
import { KubeError } from './kube-error.ts';

/** Limit of a line, in characters: no object is nearly as large, as etcd takes 1.5 MiB. */
const longestLine = 16 * 2 ** 20;

/**
 * Yields the lines of a stream. Throws KubeError if nothing arrived for `silence` milliseconds, or if the content is
 * not UTF-8 in lines. The stream is closed when the reader stops.
 */
export async function* lines(stream: Readable, silence: number): AsyncGenerator<string, void, undefined> {
  const chunks: AsyncIterator<Uint8Array, undefined> = stream[Symbol.asyncIterator]();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const rest = createRest();
  try {
    for (;;) {
      const { done, value } = await within(silence, stream, chunks.next());
      yield* rest.linesWith(decoded(decoder, done === true ? undefined : value));
      if (done === true) break;
    }
    if (!rest.isEmpty()) throw new KubeError('garbled', 'a watch ended within a line');
  } finally {
    // Closing it too early for the sender is no error here.
    stream.on('error', () => undefined).destroy();
  }
}

/** Beginning of a line whose end has not arrived yet. */
interface Rest {
  /** Adds text; returns the lines that it completes, without empty ones. Throws KubeError for an endless line. */
  linesWith(text: string): readonly string[];
  isEmpty(): boolean;
}

/**
 * Creates an empty rest. Each text is searched once: an object of a megabyte arrives in a hundred parts, and searching
 * all of them again with each part took most of the operator's time.
 */
function createRest(): Rest {
  let parts: string[] = [];
  let length = 0;
  return {
    linesWith(text) {
      const [first = '', ...others] = text.split('\n');
      parts.push(first);
      length += first.length;
      if (length > longestLine) throw new KubeError('garbled', 'a line of a watch has no end');
      const last = others.pop();
      if (last === undefined) return [];
      const complete = [parts.join(''), ...others];
      parts = [last];
      length = last.length;
      return complete.filter((line) => line !== '');
    },
    isEmpty: () => length === 0,
  };
}

function decoded(decoder: InstanceType<typeof TextDecoder>, value: Uint8Array | undefined): string {
  try {
    return decoder.decode(value, { stream: value !== undefined });
  } catch (cause) {
    throw new KubeError('garbled', 'a watch is not UTF-8', { cause });
  }
}

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
