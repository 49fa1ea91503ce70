import { isList } from '../../../crds/json-value.ts';
import { grouped } from '../../../process/plain-text.ts';
import { noBoxAnswer, type BoxAnswer, type BoxClient } from '../box-client.ts';
import type { Terminal } from '../terminal.ts';

/** A list that is read page by page. */
export interface PagedList {
  /** Path and query of the first page. */
  readonly path: string;
  /** Name of its entries in the line of progress, in front of "so far"; empty for none. */
  readonly noun: string;
}

/** Yields the entries of each page of a list, with a line of progress on a terminal between them. Throws CliError. */
export async function* pagesOf(
  client: BoxClient,
  { path, noun }: PagedList,
  { messages }: Pick<Terminal, 'messages'>,
): AsyncGenerator<readonly unknown[]> {
  let next: string | undefined = path;
  let count = 0;
  let isShown = false;
  try {
    while (next !== undefined) {
      const page: BoxAnswer = await client.request('GET', next);
      if (!isList(page.body)) throw noBoxAnswer(client.base);
      const entries = page.body;
      count += entries.length;
      yield entries;
      ({ next } = page);
      if (messages.isTTY !== true || next === undefined) continue;
      messages.write(`\r${grouped(count)}${noun === '' ? '' : ` ${noun}`} so far`);
      isShown = true;
    }
  } finally {
    if (isShown) messages.write('\r\x1b[K');
  }
}
