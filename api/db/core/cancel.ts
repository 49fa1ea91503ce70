import { connect } from 'node:net';
import type pg from 'pg';

const cancelRequestCode = 80_877_102;

/**
 * Asks the server to cancel the statement of a connection (PostgreSQL protocol, "Canceling Requests in Progress"). Does
 * not wait and ignores failures: a statement that is not cancelled ends by the server's own limits, except a commit
 * that waits for a lost standby, which would hold its server process forever.
 */
export function cancelStatement(connection: pg.PoolClient): void {
  const address = addressOf(connection);
  if (address === undefined) return;
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(cancelRequestCode, 4);
  message.writeInt32BE(address.processId, 8);
  message.writeInt32BE(address.secretKey, 12);
  const { host, port } = address;
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${String(port)}` } : { host, port });
  socket.setTimeout(1_000);
  socket.on('error', () => undefined);
  socket.on('timeout', () => socket.destroy());
  socket.end(message);
  socket.unref();
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly processId: number;
  readonly secretKey: number;
}

/** Returns the address and the cancel key of a connection; pg keeps them without declaring them in its types. */
function addressOf(connection: object): Address | undefined {
  const { host, port, processID: processId, secretKey }: Record<string, unknown> = { ...connection };
  const known =
    typeof host === 'string' &&
    typeof port === 'number' &&
    typeof processId === 'number' &&
    typeof secretKey === 'number';
  return known ? { host, port, processId, secretKey } : undefined;
}
