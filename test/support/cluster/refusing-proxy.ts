import { readFile } from 'node:fs/promises';
import https from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import type { ControlPlane } from './control-plane.ts';
import { portOf } from '../../../program/environment.ts';

/** Answer that replaces the real one. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A proxy in front of an API server, known by its certificate, that answers some requests itself. */
export interface RefusingProxy {
  readonly port: number;
  /** Count of requests that it has rejected. */
  readonly refused: number;
  /** Returns the rejection of a request (its path with the query); undefined: it is forwarded. */
  refuse: (path: string) => Refusal | undefined;
  /** Ends every connection. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts one on a free port; it refuses nothing at first. */
export async function startRefusingProxy(plane: ControlPlane): Promise<RefusingProxy> {
  const [cert, key] = await Promise.all(
    ['apiserver.crt', 'apiserver.key'].map((name) => readFile(path.join(path.dirname(plane.certificate), name))),
  );
  if (cert === undefined || key === undefined) throw new Error('the API server has no certificate');
  const agent = new https.Agent({ keepAlive: true, ca: cert });
  let refused = 0;

  const server = https.createServer({ cert, key }, (request, response) => {
    const refusal = proxy.refuse(request.url ?? '/');
    if (refusal === undefined) {
      forward(plane.url, agent, request, response);
      return;
    }
    refused += 1;
    const { status: code, headers } = refusal;
    response.writeHead(code, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message: 'refused' }));
  });
  // A watch has no end.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const proxy: RefusingProxy = {
    port: portOf(server),
    refuse: () => undefined,
    get refused() {
      return refused;
    },
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function forward(target: string, agent: https.Agent, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = '/' } = request;
  const sent = https.request(new URL(url, target), { method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
    answer.on('error', () => response.destroy());
    response.on('close', () => answer.destroy());
  });
  sent.on('error', () => response.destroy());
  request.pipe(sent);
}
