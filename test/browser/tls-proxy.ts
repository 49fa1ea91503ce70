import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';

/** A proxy before the API, as on the web: it speaks TLS to browsers and plain HTTP to the API. */
export interface TlsProxy {
  /** `https://localhost:<port>`. Nobody knows its certificate. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts one before the server at `target`, which need not be there yet. Fails without openssl. */
export async function startTlsProxy(target: string): Promise<TlsProxy> {
  const server = https.createServer(selfSigned(), (request, response) => {
    forward(request, response, target);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return {
    url: `https://localhost:${typeof address === 'object' && address !== null ? String(address.port) : ''}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A key and a certificate for `localhost`, of today. */
function selfSigned(): { readonly key: string; readonly cert: string } {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const whose = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '1'];
  const pem = execFileSync('openssl', ['req', '-x509', ...curve, '-nodes', ...whose, '-keyout', '-', '-out', '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const at = pem.indexOf('-----BEGIN CERTIFICATE-----');
  return { key: pem.slice(0, at), cert: pem.slice(at) };
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
