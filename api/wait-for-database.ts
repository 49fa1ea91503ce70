import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiConfig } from './config.ts';
import { adviceFor, Outage } from './db/core/outage.ts';
import type { Certificate } from './http/tls/certificates.ts';
import { createHttpServer, defaultServerLimits, listen } from './http/server/server.ts';
import type { Log } from '../program/log.ts';

/** Dependencies of {@link waitForDatabase}. */
export interface DatabaseWait {
  readonly config: Pick<ApiConfig, 'waitForDatabase' | 'managementHost' | 'managementPort'>;
  /** Certificate of the management port; undefined: plain HTTP. */
  readonly certificate: Certificate | undefined;
  readonly log: Log;
  /** Ends the wait; its reason is then thrown. */
  readonly signal: AbortSignal;
}

/** Milliseconds between two tries: longer and longer. */
const firstWait = 500;
const longestWait = 5_000;

/**
 * Repeats `check` while it throws Outage, and meanwhile answers the probes of the management port: the process is alive
 * and not ready, so Kubernetes neither restarts it nor sends it requests. Each reason is logged once. Other errors are
 * thrown, as is the first one of a program that does not wait (BOXGATE_WAIT_FOR_DATABASE).
 */
export async function waitForDatabase(check: () => Promise<void>, wait: DatabaseWait): Promise<void> {
  const { config, log, signal } = wait;
  let reason = '';
  let close: (() => Promise<void>) | undefined;
  try {
    await retryWhileUnreachable(check, {
      reasonOf: (error) => (error instanceof Outage && config.waitForDatabase ? adviceFor(error) : undefined),
      async onReason(found) {
        close ??= await answerProbes(() => reason, wait);
        log.warn({ reason: found }, 'waiting for the database');
        reason = found;
      },
      pause: (attempts) => Math.min(firstWait * attempts, longestWait),
      signal,
    });
  } finally {
    await close?.();
  }
}

/** Serves the management port until the returned function is called: `/healthz` is ok, everything else unavailable. */
async function answerProbes(
  reason: () => string,
  { config, certificate, log }: DatabaseWait,
): Promise<() => Promise<void>> {
  const listener: RequestListener = (request, response) => {
    if (request.url === '/healthz') response.writeHead(200, plain).end('ok');
    else if (request.url === '/readyz') response.writeHead(503, plain).end(reason());
    else response.writeHead(503, json).end(JSON.stringify({ error: reason(), code: 'unavailable' }));
  };
  const server = createHttpServer(listener, defaultServerLimits, undefined, { certificate });
  const port = await listen(server, config.managementHost, config.managementPort);
  log.info({ management_port: port }, 'answering probes');
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', Connection: 'close' };
const plain = { ...common, 'Content-Type': 'text/plain; charset=utf-8' };
const json = { ...common, 'Content-Type': 'application/json; charset=utf-8' };

/** Conditions under which work on the database is tried again. */
interface Retry {
  /** Returns why the work may succeed later; undefined if its error is to be thrown. */
  readonly reasonOf: (error: unknown) => string | undefined;
  /** Called before the wait with each reason that differs from the one before. */
  readonly onReason: (reason: string) => void | Promise<void>;
  /** Returns the milliseconds until the next attempt, after a number of them. */
  readonly pause: (attempts: number) => number;
  /** Ends a wait; its reason is then thrown. */
  readonly signal?: AbortSignal;
}

/** Runs work on the database until it succeeds, or until it throws an error without a reason to try again. */
export async function retryWhileUnreachable<T>(work: () => Promise<T>, retry: Retry): Promise<T> {
  let told: string | undefined;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await work();
    } catch (error) {
      const reason = retry.reasonOf(error);
      if (reason === undefined) throw error;
      if (reason !== told) await retry.onReason(reason);
      told = reason;
    }
    await sleep(retry.pause(attempts), undefined, { signal: retry.signal });
  }
}
