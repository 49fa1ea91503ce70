import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { portOf } from '../../program/environment.ts';

/** An app on a device: it takes what browsers bring back to it, over real HTTP. */
export interface AppServer {
  /** `http://127.0.0.1:<port>`. `/back` is a page; `/on` leads on to a page on another host, as apps do. */
  readonly url: string;
  /** Text of each request: method, address, body and Referer. Fragments never reach a server. */
  readonly heard: readonly string[];
  close(): Promise<void>;
}

/** Starts one on a free port. */
export async function startAppServer(): Promise<AppServer> {
  const heard: string[] = [];
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    heard.push(`${method} ${url} ${await text(request)} ${headers.referer ?? ''}`);
    if (url.startsWith('/on')) {
      response.writeHead(302, { Location: `http://localhost:${String(portOf(server))}/home` }).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
    response.end('<!doctype html><html lang="en"><title>App</title><h1>Back in the app</h1></html>');
  }
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${String(portOf(server))}`,
    heard,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
