import type { Readable } from 'node:stream';
import { KubeError } from './kube-error.ts';

/** No object is nearly as large: etcd takes 1.5 MiB. */
const longestLine = 16 * 2 ** 20;

/**
 * The lines of a stream. Throws KubeError when nothing came for `silence` milliseconds, or what came is not UTF-8 in lines.
 * The stream is closed when the reader stops.
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
    // That it is closed too early for whoever sends is no error here.
    stream.on('error', () => undefined).destroy();
  }
}

/** The beginning of a line whose end has not come yet. */
interface Rest {
  /** Takes more text; returns the lines that it completes, without empty ones. Throws KubeError for a line without an end. */
  linesWith(text: string): readonly string[];
  isEmpty(): boolean;
}

/**
 * Each text is searched once: an object of a megabyte comes in a hundred parts, and to search all of them again with each
 * part took most of the operator's time.
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

/** Ends the stream, and with it the work, when nothing comes. */
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
