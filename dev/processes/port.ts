import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DevError } from '../dev-error.ts';
import { portOf } from '../../process/port-of.ts';

/**
 * Returns a port on 127.0.0.1 that is free now: the requested one, or any for 0. Throws DevError if the requested one
 * is in use, and still is after `patience` milliseconds.
 */
export async function freePort(wanted: number, option: string, patience = 0): Promise<number> {
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return await opened(wanted);
    } catch (error) {
      const isInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isInUse || performance.now() > deadline) {
        const what = isInUse ? 'is in use' : 'cannot be opened';
        throw new DevError(`Port ${String(wanted)} ${what}; choose another with ${option} (0: any free one)`, {
          cause: error,
        });
      }
    }
    await sleep(50);
  }
}

async function opened(wanted: number): Promise<number> {
  const probe = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen(wanted, '127.0.0.1', () => {
        resolve(portOf(probe));
      });
    });
  } finally {
    probe.close();
  }
}
