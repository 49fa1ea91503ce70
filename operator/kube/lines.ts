import type { Readable } from 'node:stream';
import { KubeError } from './kube-error.ts';

/** No object is nearly as large: etcd takes 1.5 MiB. */
const longestLine = 16 * 2 ** 20;

/**
 * The lines of a stream. Throws KubeError when nothing came for `silence` milliseconds, or what came is not UTF-8 in lines.
 * The stream is closed when the reader stops.
 */
export async function* lines(stream: Readable, silence: number): AsyncGenerator<string, void, undefined> {
  const parts: AsyncIterator<Uint8Array, undefined> = stream[Symbol.asyncIterator]();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await within(silence, stream, parts.next());
      rest += decoded(decoder, done === true ? undefined : value);
      const complete = rest.split('\n');
      rest = complete.pop() ?? '';
      if (rest.length > longestLine) throw new KubeError('garbled', 'a line of a watch has no end');
      yield* complete.filter((line) => line !== '');
      if (done === true) break;
    }
    if (rest !== '') throw new KubeError('garbled', 'a watch ended within a line');
  } finally {
    // That it is closed too early for whoever sends is no error here.
    stream.on('error', () => undefined).destroy();
  }
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
