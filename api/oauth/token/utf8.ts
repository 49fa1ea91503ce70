import { isAscii } from 'node:buffer';

/** Returns the text of bytes in UTF-8; undefined if malformed. ASCII, as in nearly every request, costs least. */
export function utf8Text(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
