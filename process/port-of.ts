import type { Server } from 'node:net';

/** Returns the port that a server listens on. Throws if it does not listen on TCP. */
export function portOf(server: Server): number {
  const address = server.address();
  if (typeof address === 'object' && address !== null) return address.port;
  throw new TypeError('the server does not listen on a TCP port');
}
