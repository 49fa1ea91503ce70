import { createServer, type ServerResponse } from 'node:http';
import type { OperatorMetrics } from './metrics.ts';

/** A port that a cluster asks how the operator is. */
export interface HealthServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** What the port tells, and where it is. */
export interface HealthOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Why the operator is not ready; undefined when it is. */
  readonly notReady: () => string | undefined;
  readonly metrics: OperatorMetrics;
  /** Remarks for people although the operator is ready: lines below `ok`. */
  readonly remarks?: () => readonly string[];
}

/** Opens the port: `/healthz` (the process runs), `/readyz` (it leads, or knows who does), `/metrics` (Prometheus). */
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
  // Probes and Prometheus only: nobody needs long.
  Object.assign(server, { headersTimeout: 5_000, requestTimeout: 5_000, maxConnections: 100 });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(new Error(`cannot listen on port ${String(port)}`, { cause })));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
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
