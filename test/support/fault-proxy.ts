import { createConnection, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { portOf } from '../../program/environment.ts';

/** A TCP proxy in front of a server, which a test can make slow or cut. */
export interface FaultProxy {
  readonly port: number;
  /** Milliseconds that everything takes longer from now on, in each direction. */
  delay: number;
  /** New connections are closed at once. */
  isClosed: boolean;
  /** Closes every connection. */
  cut(): void;
  /** From now on nothing comes through the connections that are open, and nobody is told: new ones work. */
  silence(): void;
  close(): Promise<void>;
}

/** Forwards connections on a free loopback port to another. */
export async function startFaultProxy(target: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  const server = createServer((near) => {
    if (proxy.isClosed) {
      near.destroy();
      return;
    }
    const far = createConnection({ host: '127.0.0.1', port: target });
    forward(near, far);
    forward(far, near);
  });

  function forward(from: Socket, to: Socket): void {
    sockets.add(from);
    // In the order in which it came, also when the delay is another one meanwhile.
    const passing: (() => void)[] = [];
    const passOn = (what: () => void): void => {
      passing.push(what);
      setTimeout(() => passing.shift()?.(), proxy.delay);
    };
    from.on('data', (chunk) => {
      if (!silent.has(from)) passOn(() => to.write(chunk));
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      passOn(() => to.destroySoon());
    });
  }

  const proxy: FaultProxy = {
    delay: 0,
    isClosed: false,
    port: await new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        resolve(portOf(server));
      });
    }),
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    silence() {
      for (const socket of sockets) silent.add(socket);
    },
    async close() {
      proxy.cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
