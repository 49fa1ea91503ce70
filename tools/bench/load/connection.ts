import { createConnection } from 'node:net';

/** One keep-alive connection with at most one request under way. */
export type LoadConnection = {
  /** Sends a whole request; `since` (milliseconds) is handed back with the answer. */
  send(request: Buffer, since: number): void;
  close(): void;
};

/** Callbacks of a connection. */
export type LoadListener = {
  /** `text` is the whole answer, its bytes as Latin-1. */
  answered(connection: LoadConnection, status: number, since: number, text: string): void;
  /** The connection is gone; `busy` says whether a request was under way. */
  lost(connection: LoadConnection, busy: boolean): void;
};

/**
 * Opens a connection to 127.0.0.1. The answer is parsed as far as needed to know its status and where it ends: every
 * server measured here sends a Content-Length, an answer without one counts as a lost connection.
 */
export function openConnection(port: number, listener: LoadListener): Promise<LoadConnection> {
  // One buffer for every read of this socket: nothing is allocated for an answer but its text.
  const buffer = Buffer.allocUnsafe(64 * 1024);
  let pending = '';
  let since = 0;
  let busy = false;
  const receive = (size: number): boolean => {
    pending += buffer.toString('latin1', 0, size);
    const end = answerEnd(pending);
    if (end === 'incomplete') return true;
    // A server may say 408 on a connection that nothing was asked on; it is about to close it.
    if (end === 'unreadable' || pending.length !== end || !busy) {
      socket.destroy();
      return true;
    }
    const text = pending;
    pending = '';
    busy = false;
    listener.answered(connection, Number(text.slice(9, 12)), since, text);
    return true;
  };
  const socket = createConnection({
    host: '127.0.0.1',
    port,
    noDelay: true,
    onread: { buffer, callback: receive },
  });
  const connection: LoadConnection = {
    send(request, at) {
      since = at;
      busy = true;
      socket.write(request);
    },
    close: () => socket.destroy(),
  };
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('connect', () => resolve(connection));
    socket.on('close', () => listener.lost(connection, busy));
  });
}

/** Returns the end of the first answer in this text. */
function answerEnd(text: string): number | 'incomplete' | 'unreadable' {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return 'incomplete';
  // Both spellings without a regular expression: this runs once for every request measured.
  let field = text.indexOf('Content-Length: ');
  if (field < 0 || field > head) field = text.indexOf('content-length: ');
  if (field < 0 || field > head) return text.startsWith('HTTP/1.1 204') ? head + 4 : 'unreadable';
  const end = head + 4 + Number.parseInt(text.slice(field + 16, field + 26), 10);
  return text.length < end ? 'incomplete' : end;
}
