import { createConnection, createServer, type Socket } from 'node:net';
import { portOf } from '../../../program/environment.ts';

/** One address in front of several replicas, as a Service is. */
export interface ReplicaService {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on a free loopback port and forwards each connection to the next replica that accepts it. */
export async function startReplicaService(ports: readonly number[]): Promise<ReplicaService> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((near) => {
    turn += 1;
    keep(near);
    forward(
      near,
      ports.map((_, nth) => ports[(turn + nth) % ports.length] ?? 0),
    );
  });

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  }

  function forward(near: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) {
      near.destroy();
      return;
    }
    const far = createConnection({ host: '127.0.0.1', port });
    keep(far);
    const refused = (): void => forward(near, others);
    far.once('error', refused).once('connect', () => {
      far.off('error', refused);
      near.pipe(far).pipe(near);
      far.on('close', () => near.destroy());
      near.on('close', () => far.destroy());
    });
  }

  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(portOf(server));
    });
  });
  return {
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
