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
