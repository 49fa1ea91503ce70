import type { Server } from 'node:http';

/** Says on standard output where this server listens, in the form the product's own log line has. */
export function announce(server: Server): void {
  server.on('listening', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') {
      process.stdout.write(`${JSON.stringify({ msg: 'listening', port: address.port })}\n`);
    }
  });
}
