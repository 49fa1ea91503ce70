import { createConnection, createServer, type Socket } from 'node:net';
import { portOf } from '../../../program/environment.ts';
import type { WriteProxy } from './http-writes.ts';
import { messageReader, statementReader, type Message } from './postgres-messages.ts';
import { sqlWriteReader } from './sql-writes.ts';
import { READING_TIME, type Way, type WriteLog } from './write-log.ts';

/** Options of a proxy before Postgres. */
export interface PostgresWritesOptions {
  readonly target: number;
  readonly log: Pick<WriteLog, 'meet'>;
  /** Functions of the schema that may write: `issue_sessions`. */
  readonly writers: ReadonlySet<string>;
  /** Ends the process. */
  readonly crash: () => void;
}

/**
 * Starts a proxy before Postgres, on a free port, that shows every write to a log and ends the process as its plan
 * says.
 */
export async function startPostgresWrites(options: PostgresWritesOptions): Promise<Omit<WriteProxy, 'release'>> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = createConnection({ host: '127.0.0.1', port: options.target });
    endTogether(near, far, sockets);
    forward(near, far, options);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Keeps both sockets of a connection in a set until they close, and ends each with the other one. */
export function endTogether(near: Socket, far: Socket, sockets: Set<Socket>): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(one.setNoDelay(true));
    one
      .on('error', () => undefined)
      .on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
  }
}

/** Forwards messages. A request ends with a Query or a Sync message, and its answer ends with ReadyForQuery. */
function forward(near: Socket, far: Socket, { log, writers, crash }: PostgresWritesOptions): void {
  const fromClient = messageReader('client');
  const fromServer = messageReader('server');
  const statementOf = statementReader();
  const writeOf = sqlWriteReader(writers);
  let asked: Message[] = [];
  let held: { readonly way: Way; readonly answer: Buffer[] } | undefined;

  function ask(): void {
    const bytes = Buffer.concat(asked.map((message) => message.bytes));
    const statement = asked.map(statementOf).find((text) => text !== undefined);
    asked = [];
    const write = statement === undefined ? undefined : writeOf(statement, bytes);
    const way = write === undefined ? undefined : log.meet(write);
    if (way === 'before') {
      crash();
      near.destroy();
      return;
    }
    if (way !== undefined) held = { way, answer: [] };
    far.write(bytes);
  }

  function deliver(answer: Buffer, way: Way): void {
    held = undefined;
    if (way === 'after') {
      near.write(answer, () => setTimeout(crash, READING_TIME));
    } else {
      if (way === 'answer lost') crash();
      near.destroy();
    }
  }

  near.on('data', (chunk: Buffer) => {
    for (const message of fromClient(chunk)) {
      asked.push(message);
      if (!'PBDEC'.includes(message.letter) || message.letter === '') ask();
    }
  });
  far.on('data', (chunk: Buffer) => {
    // One question at a time: all that comes belongs to the one that is held.
    const isWhole = fromServer(chunk).at(-1)?.letter === 'Z';
    if (held === undefined) near.write(chunk);
    else if (isWhole) deliver(Buffer.concat([...held.answer, chunk]), held.way);
    else held.answer.push(chunk);
  });
}
