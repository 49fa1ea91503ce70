import { createServer, type ServerResponse } from 'node:http';
import type { OperatorMetrics } from './metrics.ts';
import { portOf } from '../program/environment.ts';

/** A port on which a cluster checks the operator's health. */
export interface HealthServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Address of the port, and sources of its answers. */
export interface HealthOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Returns why the operator is not ready; undefined if it is. */
  readonly notReady: () => string | undefined;
  readonly metrics: OperatorMetrics;
  /** Returns remarks for people while the operator is ready: lines below `ok`. */
  readonly remarks?: () => readonly string[];
}

/** Opens the port: `/healthz` (the process runs), `/readyz` (see `notReady`), `/metrics` (Prometheus). */
export async function startHealthServer({
  host,
  port,
  notReady,
  metrics,
  remarks,
}: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url?.split('?')[0];
    if (path === '/healthz') answer(response, 200, 'ok');
    else if (path === '/readyz')
      answer(response, notReady() === undefined ? 200 : 503, notReady() ?? ['ok', ...(remarks?.() ?? [])].join('\n'));
    else if (path === '/metrics') sendMetrics(metrics, response);
    else answer(response, 404, 'there is nothing at this address');
  });
  // Only probes and Prometheus call it: no request takes long.
  Object.assign(server, { headersTimeout: 5_000, requestTimeout: 5_000, maxConnections: 100 });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(new Error(`cannot listen on port ${String(port)}`, { cause })));
    server.listen(port, host, resolve);
  });
  return {
    port: portOf(server),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function sendMetrics(metrics: OperatorMetrics, response: ServerResponse): void {
  metrics.page().then(
    ({ contentType, text }) => answer(response, 200, text, contentType),
    () => answer(response, 500, 'the metrics cannot be read'),
  );
}

function answer(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, {
    'Content-Type': type,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
  response.end(text);
}
