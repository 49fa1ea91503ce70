const chunkLength = 64 * 1024;

/** Values as newline-delimited JSON, in pieces of about 64 KiB: made as they are sent, so that a long list takes no memory. */
export function* ndjsonChunks(values: Iterable<unknown>): Generator<string> {
  let chunk = '';
  for (const value of values) {
    chunk += `${JSON.stringify(value)}\n`;
    if (chunk.length >= chunkLength) {
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}

/** The lines of a stream of text, without their ends and without empty ones. Throws RangeError when one exceeds `longest`. */
export async function* lines(text: AsyncIterable<string>, longest: number): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of text) {
    const [first = '', ...others] = piece.split('\n');
    // Only what is new is searched: a long line in many pieces would be searched from its beginning with each.
    const parts = [rest + first, ...others];
    rest = parts.pop() ?? '';
    for (const part of parts) if (part !== '') yield part;
    if (rest.length > longest) throw new RangeError(`a line is longer than ${String(longest)} characters`);
  }
  if (rest !== '') yield rest;
}
