import { createConnection, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { endTogether } from '../faults/crash-points/postgres-writes.ts';
import { portOf } from '../../program/environment.ts';
import { messageReader } from '../faults/crash-points/postgres-messages.ts';
import type { Message } from '../faults/crash-points/postgres-messages.ts';

/** A statement at which something happens to a process: before it is sent, or when its transaction is committed. */
export interface KillPoint {
  readonly statement: RegExp;
  readonly way: 'before' | 'after';
}

/** A proxy in front of Postgres that ends or holds up a process at a statement of it, once. */
export interface KillingProxy {
  readonly port: number;
  /** Looks for the statement from now on. It is forwarded if `meet` resolves with true; else the process is gone. */
  arm(meet: () => Promise<boolean>): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of Postgres, on a free port. The pattern of the statement sees its parameters, too. */
export async function startKillingProxy(target: number, point: KillPoint): Promise<KillingProxy> {
  const sockets = new Set<Socket>();
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  let armed: (() => Promise<boolean>) | undefined;
  const isMet = (text: string): boolean => armed !== undefined && point.statement.test(text);
  const meet = async (goOn: () => void): Promise<void> => {
    const met = armed;
    armed = undefined;
    if (met === undefined || (await met())) goOn();
    else destroyAll();
  };
  const server = createServer((near) => {
    const far = createConnection({ host: '127.0.0.1', port: target });
    endTogether(near, far, sockets);
    forward(near, far, { way: point.way, isMet, meet });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    arm(how) {
      armed = how;
    },
    async close() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Meeting {
  readonly way: KillPoint['way'];
  readonly isMet: (text: string) => boolean;
  readonly meet: (goOn: () => void) => Promise<void>;
}

/** Forwards a connection. A request ends with a Query or a Sync message, and nothing is sent before its answer. */
function forward(near: Socket, far: Socket, { way, isMet, meet }: Meeting): void {
  const fromClient = messageReader('client');
  const fromServer = messageReader('server');
  let asked: Message[] = [];
  let state: 'other' | 'met' | 'committing' = 'other';
  near.on('data', (chunk: Buffer) => {
    for (const message of fromClient(chunk)) {
      asked.push(message);
      if ('PBDEC'.includes(message.letter) && message.letter !== '') continue;
      const bytes = Buffer.concat(asked.map((one) => one.bytes));
      asked = [];
      const text = bytes.toString('latin1');
      const send = (): void => void far.write(bytes);
      if (isMet(text) && way === 'before') void meet(send);
      else {
        if (isMet(text)) state = 'met';
        if (state === 'met' && text.includes('COMMIT\0')) state = 'committing';
        send();
      }
    }
  });
  far.on('data', (chunk: Buffer) => {
    const isWhole = fromServer(chunk).at(-1)?.letter === 'Z';
    const send = (): void => void near.write(chunk);
    if (state === 'committing' && isWhole) void meet(send);
    else send();
  });
}
