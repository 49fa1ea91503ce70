import { once } from 'node:events';
import type { Socket } from 'node:net';
import { openSocket } from '../raw-http.ts';

/**
 * Milliseconds after which a connection that neither answers nor ends hangs; the server's own limits are far shorter.
 */
const longest = 60_000;

/**
 * The last request of a connection, which the server ends after it. The empty lines are the rest of a body whose length
 * was given as a few bytes too many; before a request they mean nothing (RFC 9112 §2.2).
 */
const last = Buffer.from('\r\n\r\nGET /.well-known/jwks.json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');

/**
 * Sends requests over one connection, all at once, and a last one that ends it. Returns everything that came back, in
 * Latin-1. Throws when the server does not end the connection.
 */
export async function converse(url: string, requests: readonly Buffer[]): Promise<string> {
  const socket = openSocket(url);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = closed(socket);
  socket.write(Buffer.concat([...requests, last]));
  try {
    await ended;
  } finally {
    socket.destroy();
  }
  return Buffer.concat(chunks).toString('latin1');
}

/**
 * Waits for the end of a connection. One that is closed before all that was sent on it is read ends with a reset, which
 * is what the system makes of a refused request with others behind it (RFC 9112 §9.6).
 */
async function closed(socket: Socket): Promise<void> {
  try {
    await once(socket, 'close', { signal: AbortSignal.timeout(longest) });
  } catch (error) {
    if (!isReset(error)) throw error;
  }
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ECONNRESET', 'EPIPE'].includes(String(error.code));
}

/** Returns the status codes of the answers in what came back. */
export function statusesIn(answers: string): readonly number[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
