const chunkLength = 64 * 1024;

/** Writes values as newline-delimited JSON, in pieces of about 64 KiB on demand: a long list takes no memory. */
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

/** Reads the lines of a text stream, without their ends and without empty ones. Throws RangeError beyond `longest`. */
export async function* lines(text: AsyncIterable<string>, longest: number): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of text) {
    const [first = '', ...others] = piece.split('\n');
    // Only the new part is searched: a long line in many pieces would be searched from its beginning with each.
    const parts = [rest + first, ...others];
    rest = parts.pop() ?? '';
    for (const part of parts) if (part !== '') yield part;
    if (rest.length > longest) throw new RangeError(`a line is longer than ${String(longest)} characters`);
  }
  if (rest !== '') yield rest;
}
