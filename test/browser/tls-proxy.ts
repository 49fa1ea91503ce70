import { once } from 'node:events';
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import { localhostCertificate } from '../support/localhost-certificate.ts';
import { portOf } from '../../program/environment.ts';

/** A proxy before the API, as on the web: it speaks TLS to browsers and plain HTTP to the API. */
export interface TlsProxy {
  /** `https://localhost:<port>`. Nobody knows its certificate, unless a test tells of it. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts one before the server at `target`, which need not be there yet. Fails without openssl. */
export async function startTlsProxy(target: string, certificate = localhostCertificate()): Promise<TlsProxy> {
  const server = https.createServer({ ...certificate }, (request, response) => {
    forward(request, response, target);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `https://localhost:${String(portOf(server))}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(request: IncomingMessage, response: ServerResponse, target: string): void {
  const { method, headers, socket } = request;
  const added = { 'X-Forwarded-For': socket.remoteAddress ?? '', 'X-Forwarded-Proto': 'https' };
  const sent = http.request(new URL(request.url ?? '/', target), { method, headers: { ...headers, ...added } });
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
  });
  sent.on('error', () => {
    response.writeHead(502).end();
  });
  request.pipe(sent);
}
