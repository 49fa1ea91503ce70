import { connect } from 'node:net';
import { startChild, untilReady } from '../support/child-program.ts';
import { ownPort } from '../support/own-port.ts';

/** A server that a page shows, as it runs. */
export interface DocumentedProgram {
  readonly url: string;
  /** Returns what it has printed. */
  said(): string;
  stop(): Promise<void>;
}

/** Starts a program with the environment that it reads and a port of its own, and waits until it listens. */
export async function startProgram(
  [program, ...parameters]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>>,
): Promise<DocumentedProgram> {
  const port = await ownPort();
  const child = startChild(program, parameters, { env: { PORT: String(port), ...environment } });
  try {
    await untilReady(child, parameters.join(' '), () => listens(port));
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${String(port)}`, said: () => child.said(), stop: () => child.stop() };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
