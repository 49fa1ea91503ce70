import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** Time limits of a server's stop, in milliseconds. */
export interface StopLimits {
  /** Time without a new request after which it stops listening. */
  readonly quiet: number;
  /** Time after which it stops listening in any case. */
  readonly drain: number;
  /** Further time for the requests in progress. */
  readonly grace: number;
}

/** Default limits: requests in progress are answered, and a load balancer has time to choose another replica. */
export const defaultStopLimits: StopLimits = { quiet: 100, drain: 2_000, grace: 10_000 };

/** Stops a server; see {@link gracefulStop}. */
export type Stop = (limits: StopLimits) => Promise<void>;

/**
 * Returns a function that stops a server without failing a request; call it before the server listens. First all new
 * requests are served, with an answer that closes the connection (to close one that merely seems idle would cut off
 * a caller that has just begun to send). Then no connection is accepted any more, idle ones are closed, and active
 * ones may finish.
 */
export function gracefulStop(server: Server): Stop {
  const open = new Set<Socket>();
  const track = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  server.on('connection', track);
  // Inside TLS nothing has been sent yet, though the handshake was.
  server.on('secureConnection', track);
  return async (limits) => {
    await drain(server, limits);
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      // node treats a connection that has never sent anything as active.
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    }, 50);
    const cut = setTimeout(() => {
      // All of them: node's own list lacks those that speak another protocol, or broken HTTP.
      for (const socket of open) socket.destroy();
    }, limits.grace);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  };
}

const turn = 20;

async function drain(server: Server, { quiet, drain: most }: StopLimits): Promise<void> {
  const end = performance.now() + most;
  let called = false;
  let quietFor = 0;
  server.prependListener('request', (_request, response) => {
    called = true;
    quietFor = 0;
    response.shouldKeepAlive = false;
  });
  // Without connections and requests there is nothing to wait for.
  const isCalled = async (): Promise<boolean> => called || (await connectionsOf(server)) > 0;
  while ((await isCalled()) && quietFor < quiet && performance.now() < end) {
    await sleep(turn);
    // Counted in turns, each after reading new requests: a process that was paused has received none.
    await setImmediate();
    quietFor += turn;
  }
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((error, count) => {
      resolve(error === null ? count : 0);
    });
  });
}
