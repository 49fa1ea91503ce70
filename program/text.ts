import { wordHint } from '../crds/did-you-mean.ts';

/** Escapes text so that it cannot move the cursor or hide itself on a terminal: control characters become `\\x1b`. */
export function plainText(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters that it is about
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return character.charCodeAt(0) < 0x100 ? `\\x${code.padStart(2, '0')}` : `\\u${code}`;
  });
}

/** Formats a number: `1,234`. */
export function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

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

/** Returns a UUID's usual text from its 32 hexadecimal digits. */
export function uuidText(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Returns the first sentence of an error of `parseArgs`, and the option that an unknown one may mean. */
export function optionFault(error: unknown, names: readonly string[]): string {
  if (!(error instanceof Error)) return 'unknown option';
  const [first = ''] = error.message.split(/[.\n]/);
  const [, name = ''] = /^Unknown option '--([\w-]+)'$/.exec(first) ?? [];
  const options = names.map((option) => `--${option}`);
  return first + wordHint(`--${name}`, options);
}
