import { isAscii } from 'node:buffer';

/** Text of bytes in UTF-8; undefined when they are not well-formed. ASCII, which nearly every request is, costs least. */
export function utf8Text(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
