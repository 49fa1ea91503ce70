import { createHash } from 'node:crypto';

/** A file that is published, and its SHA-512 in hexadecimal. */
export interface Archive {
  readonly url: string;
  readonly sum: string;
}

/** Milliseconds until an answer begins, and until it is there whole. */
const limits = { answer: 20_000, whole: 1_800_000 };

/** Downloads a file. Throws if it cannot be had or is not the one that is meant. */
export async function fetchChecked({ url, sum }: Archive): Promise<Buffer> {
  const bytes = await bytesOf(url);
  const found = createHash('sha512').update(bytes).digest('hex');
  if (found !== sum) throw new Error(`${url} has the SHA-512 ${found}, not ${sum}`);
  return bytes;
}

async function bytesOf(url: string): Promise<Buffer> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`${url} does not answer`)), limits.answer);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([late.signal, AbortSignal.timeout(limits.whole)]) });
    clearTimeout(timer);
    if (!response.ok) throw new Error(`${url} answers ${String(response.status)}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    // A name that nobody knows, and a connection that nobody takes, are the cause of "fetch failed".
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    if (cause === '') throw error;
    throw new Error(`${url} cannot be reached${cause}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
