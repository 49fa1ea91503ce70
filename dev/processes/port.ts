import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DevError } from '../options.ts';
import { portOf } from '../../program/environment.ts';

/** A port that was requested with an option; 0: any. */
export interface WantedPort {
  readonly port: number;
  readonly option: string;
}

/**
 * Checks that ports on 127.0.0.1 are free. Throws DevError that names all that are in use, and still are after
 * `patience` milliseconds.
 */
export async function demandFreePorts(wanted: readonly WantedPort[], patience: number): Promise<void> {
  const tried = await Promise.allSettled(wanted.map(({ port, option }) => freePort(port, option, patience)));
  const refusals = tried.flatMap((one): readonly unknown[] => (one.status === 'rejected' ? [one.reason] : []));
  if (refusals.length === 0) return;
  const [cause] = refusals;
  if (refusals.length === 1 || !refusals.every(isInUse)) throw cause;
  const refused = wanted.filter((_, nth) => tried[nth]?.status === 'rejected');
  const ports = refused.map(({ port }) => String(port)).join(' and ');
  const options = refused.map(({ option }) => option).join(' and ');
  throw new DevError(`Ports ${ports} are in use; choose others with ${options} (0: any free one)`, { cause });
}

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
      const isTaken = isAddressInUse(error);
      if (!isTaken || performance.now() > deadline) {
        const what = isTaken ? 'is in use' : 'cannot be opened';
        throw new DevError(`Port ${String(wanted)} ${what}; choose another with ${option} (0: any free one)`, {
          cause: error,
        });
      }
    }
    await sleep(50);
  }
}

/** Checks whether a refusal of {@link freePort} is that of a port in use. */
function isInUse(refusal: unknown): boolean {
  return refusal instanceof DevError && isAddressInUse(refusal.cause);
}

function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
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
