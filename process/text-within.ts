/** Reads a text of at most `longest` bytes. Throws the error of `tooLong` once there are more, and reads no further. */
export async function textWithin(
  longest: number,
  parts: AsyncIterable<Uint8Array>,
  tooLong: () => Error,
): Promise<string> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const part of parts) {
    length += part.length;
    if (length > longest) throw tooLong();
    read.push(part);
  }
  return Buffer.concat(read).toString('utf8');
}
