import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../../api/client/manifest/walk.ts';
import { DevError } from '../options.ts';
import { portOf } from '../../program/environment.ts';

/** A port of an address: the requested one (0: any) or, if none was requested, the usual one. */
export interface WantedPort {
  readonly host: string;
  readonly port: number | undefined;
  readonly usual: number;
  readonly option: string;
}

/**
 * Returns the two ports to listen on; 0 where none was requested and the usual one is in use. Throws DevError that
 * names the requested ones that are in use, and still are after `patience` milliseconds.
 */
export async function choosePorts(one: WantedPort, other: WantedPort, patience: number): Promise<[number, number]> {
  const requested = [one, other].flatMap(({ port, option, host }) =>
    port === undefined ? [] : [{ port, option, host }],
  );
  await demandFreePorts(requested, patience);
  return Promise.all([chosenPort(one, other.port, patience), chosenPort(other, one.port, patience)]);
}

async function chosenPort(wanted: WantedPort, other: number | undefined, patience: number): Promise<number> {
  const { port, usual, option, host } = wanted;
  if (port !== undefined) return port;
  if (usual === other) return 0;
  return freePort(usual, option, patience, host).catch((refusal: unknown) => {
    if (isInUse(refusal)) return 0;
    throw refusal;
  });
}

async function demandFreePorts(
  wanted: readonly (Omit<WantedPort, 'usual'> & { readonly port: number })[],
  patience: number,
): Promise<void> {
  const tried = await Promise.allSettled(
    wanted.map(({ port, option, host }) => freePort(port, option, patience, host)),
  );
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
 * Returns a port that is free now: the requested one, or any for 0. Throws DevError if the requested one is in use, and
 * still is after `patience` milliseconds.
 */
export async function freePort(port: number, option: string, patience = 0, host = '127.0.0.1'): Promise<number> {
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return await opened(host, port);
    } catch (error) {
      if (isCode(error, 'EADDRNOTAVAIL'))
        throw new DevError(`--host ${host} is no address of this machine`, { cause: error });
      const isTaken = isCode(error, 'EADDRINUSE');
      if (!isTaken || performance.now() > deadline) {
        const what = isTaken ? 'is in use' : `cannot be opened (${reasonOf(error)})`;
        throw new DevError(`Port ${String(port)} ${what}; choose another with ${option} (0: any free one)`, {
          cause: error,
        });
      }
    }
    await sleep(50);
  }
}

/** Checks whether a refusal of {@link freePort} is that of a port in use. */
function isInUse(refusal: unknown): boolean {
  return refusal instanceof DevError && isCode(refusal.cause, 'EADDRINUSE');
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function opened(host: string, port: number): Promise<number> {
  const probe = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen(port, host, () => {
        resolve(portOf(probe));
      });
    });
  } finally {
    probe.close();
  }
}
