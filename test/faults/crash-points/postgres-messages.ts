/** A message of Postgres' wire protocol: its letter and all of its bytes. */
export interface Message {
  readonly letter: string;
  readonly bytes: Buffer;
}

/**
 * Takes bytes as they come and gives the messages that are whole. The first message of a client has no letter (a
 * startup, or a request to cancel): it is given with the letter ''.
 */
export function messageReader(from: 'client' | 'server'): (chunk: Buffer) => readonly Message[] {
  let rest = Buffer.alloc(0);
  let isFirst = from === 'client';
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const head = isFirst ? 0 : 1;
      if (rest.length < head + 4) return messages;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return messages;
      const bytes = rest.subarray(0, length);
      messages.push({ letter: isFirst ? '' : bytes.toString('latin1', 0, 1), bytes });
      rest = rest.subarray(length);
      isFirst = false;
    }
  };
}

/**
 * Reads the statement of each message of one connection: of a Query, and of a Bind, whose statement an earlier Parse
 * has named; undefined for any other.
 */
export function statementReader(): (message: Message) => string | undefined {
  const prepared = new Map<string, string>();
  return ({ letter, bytes }) => {
    if (letter === 'Q') return textAt(bytes, 5).text;
    const first = textAt(bytes, 5);
    if (letter === 'P') prepared.set(first.text, textAt(bytes, first.end).text);
    return letter === 'B' ? prepared.get(textAt(bytes, first.end).text) : undefined;
  };
}

function textAt(bytes: Buffer, from: number): { readonly text: string; readonly end: number } {
  const end = bytes.indexOf(0, from);
  return { text: bytes.toString('utf8', from, end), end: end + 1 };
}
