import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** Time limits of a server's stop, in milliseconds. */
export interface StopLimits {
  /** Time without a new request after which it stops listening. */
  readonly quiet: number;
  /** Time after which it stops listening in any case. */
  readonly drain: number;
  /** Further time in which idle connections stay open. */
  readonly linger: number;
  /** Further time for the requests in progress. */
  readonly grace: number;
}

/**
 * Default limits, apart from `linger`: requests in progress are answered, and a load balancer has time to choose
 * another replica.
 */
export const defaultStopLimits: Omit<StopLimits, 'linger'> = { quiet: 100, drain: 2_000, grace: 10_000 };

/** Stops a server; see {@link gracefulStop}. */
export type Stop = (limits: StopLimits) => Promise<void>;

/**
 * Returns a function that stops a server without failing a request; call it before the server listens. First all new
 * requests are served, with an answer that closes the connection. Then no connection is accepted any more, and active
 * ones may finish. Idle ones linger until their caller has received such an answer: to close one earlier would cut off
 * a caller that has just begun to send (RFC 9112 §9.5).
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
    const closed = stopListening(server);
    const lingering = performance.now() + limits.linger;
    const sweep = setInterval(() => {
      if (performance.now() < lingering) return;
      server.closeIdleConnections();
      // node treats a connection that has never sent anything as active.
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    }, 50);
    const cut = setTimeout(
      () => {
        // All of them: node's own list lacks those that speak another protocol, or broken HTTP.
        for (const socket of open) socket.destroy();
      },
      Math.max(limits.linger, limits.grace),
    );
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
    // Ends node's own timer of the server; its sockets are closed by now.
    server.close();
  };
}

/**
 * Stops listening; resolves when every connection has closed. The method of an HTTP server would close idle ones
 * itself.
 */
function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => {
      resolve();
    });
  });
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
