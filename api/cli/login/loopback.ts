import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { isObject } from '../../../crds/json-value.ts';
import { CliError, EXIT } from '../cli-error.ts';

/** A loopback address that receives the answer to an authorization request (RFC 8252 §7.3). */
export interface Loopback {
  readonly redirectUri: string;
  /** Waits for the first answer with the `state`: its parameters. Throws CliError when none comes in time. */
  answer(state: string): Promise<URLSearchParams>;
  close(): void;
}

/** Listens on a free port of 127.0.0.1; `patience` is the time for an answer, in milliseconds. */
export async function listenOnLoopback(patience: number): Promise<Loopback> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = isObject(address) ? address['port'] : undefined;
  return {
    redirectUri: `http://127.0.0.1:${String(port)}/callback`,
    answer: (state) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          reject(new CliError(EXIT.refused, 'nobody has signed in within the time: run `boxctl login` again'));
        }, patience);
        server.on('request', (request, response) => {
          const answer = answerIn(request, state);
          tell(response, answer !== undefined);
          if (answer === undefined) return;
          clearTimeout(late);
          resolve(answer);
        });
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the parameters of the answer that is waited for: any other program of the machine can send requests here. */
function answerIn({ method, url = '' }: IncomingMessage, state: string): URLSearchParams | undefined {
  const target = URL.parse(url, 'http://127.0.0.1');
  if (method !== 'GET' || target?.pathname !== '/callback') return undefined;
  return target.searchParams.get('state') === state ? target.searchParams : undefined;
}

function tell(response: ServerResponse, isAnswer: boolean): void {
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
  response.writeHead(isAnswer ? 200 : 404, headers);
  response.end(isAnswer ? 'boxctl has your answer. You can close this window.\n' : 'There is nothing here.\n');
}
