import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** How long a server that stops may take, in milliseconds. */
export interface StopLimits {
  /** Without a new request for so long, it stops listening. */
  readonly quiet: number;
  /** It stops listening after so long in any case. */
  readonly drain: number;
  /** Requests that work may then go on for so long. */
  readonly grace: number;
}

/** The limits that ship: what is under way is answered, and a load balancer has time to look elsewhere. */
export const defaultStopLimits: StopLimits = { quiet: 100, drain: 2_000, grace: 10_000 };

/** Stops a server; see {@link gracefulStop}. */
export type Stop = (limits: StopLimits) => Promise<void>;

/**
 * Gives the way to stop a server without failing a request; to be called before it listens. First everybody who still
 * comes is served, and told to close the connection and go elsewhere (to close one that merely seems idle would cut off
 * who has just begun to send on it). Then no connection is taken any more, those that wait are closed, and those that
 * work may finish.
 */
export function gracefulStop(server: Server): Stop {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return async (limits) => {
    await drain(server, limits);
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      // node takes one that has never sent anything for one that works.
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
  // Where nobody is connected and nobody comes there is nothing to wait for.
  const isCalled = async (): Promise<boolean> => called || (await connectionsOf(server)) > 0;
  while ((await isCalled()) && quietFor < quiet && performance.now() < end) {
    await sleep(turn);
    // Counted in turns, and only after what came meanwhile was read: a process that stood still heard nobody.
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
