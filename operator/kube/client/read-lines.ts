import type { Readable } from 'node:stream';
import { KubeError } from './kube-error.ts';

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
