import { KubeError } from './kube-error.ts';

/** No object is nearly as large: etcd takes 1.5 MiB. */
const longestLine = 16 * 2 ** 20;

/**
 * The lines of a stream. Throws KubeError when nothing came for `silence` milliseconds, or what came is not UTF-8 in lines.
 * The stream is closed when the reader stops.
 */
export async function* lines(
  stream: ReadableStream<Uint8Array>,
  silence: number,
): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await within(silence, reader.read());
      rest += decoded(decoder, value);
      const parts = rest.split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > longestLine) throw new KubeError('garbled', 'a line of a watch has no end');
      yield* parts.filter((line) => line !== '');
      if (done) break;
    }
    if (rest !== '') throw new KubeError('garbled', 'a watch ended within a line');
  } finally {
    // A stream that failed has nothing to close.
    reader.cancel().catch(() => undefined);
  }
}

function decoded(decoder: InstanceType<typeof TextDecoder>, value: Uint8Array | undefined): string {
  try {
    return decoder.decode(value, { stream: value !== undefined });
  } catch (cause) {
    throw new KubeError('garbled', 'a watch is not UTF-8', { cause });
  }
}

async function within<T>(silence: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new KubeError('unavailable', `a watch was silent for ${String(silence)} ms`));
    }, silence);
  });
  try {
    return await Promise.race([work, silent]);
  } finally {
    clearTimeout(timer);
  }
}
