import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Environment } from '../../process/environment.ts';
import { testEncryptionKey } from './api.ts';

/** `boxgate api` in a process of its own. */
export interface ApiProcess {
  readonly pid: number;
  /** `http://127.0.0.1:<port>`; a box is at `/boxes/<box>`. */
  readonly url: string;
  readonly managementUrl: string;
  readonly managementKey: string;
  /** What it has logged and complained of, a line an entry. */
  readonly lines: readonly string[];
  /** Resolves when the process is gone: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Starts the API on a database and waits until it listens. Throws with what it said when it ends instead. */
export async function startApiProcess(databaseUrl: string, environment: Environment = {}): Promise<ApiProcess> {
  const managementKey = randomBytes(16).toString('hex');
  const child = spawn(process.execPath, ['api/main.ts', 'api'], {
    // The last pipe is never written: it ends with this process, however that ends.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      BOXGATE_DATABASE_URL: databaseUrl,
      BOXGATE_HOST: '127.0.0.1',
      BOXGATE_PORT: '0',
      BOXGATE_MANAGEMENT_PORT: '0',
      BOXGATE_MANAGEMENT_KEYS: managementKey,
      BOXGATE_ENCRYPTION_KEY: testEncryptionKey,
      BOXGATE_PUBLIC_URL: 'http://boxgate.test',
      BOXGATE_PARENT_PIPE: '3',
      ...environment,
    },
  });
  const lines: string[] = [];
  const ended = once(child, 'close').then(() => child.exitCode ?? child.signalCode ?? 'SIGKILL');
  const listening = new Promise<{ port: number; managementPort: number }>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        const ports = portsIn(line);
        if (ports !== undefined) resolve(ports);
      });
    }
  });
  const { port, managementPort } = await Promise.race([
    listening,
    ended.then((how): never => {
      throw new Error(`the API ended at its start (${String(how)}): ${lines.join('\n')}`);
    }),
  ]);
  const { pid } = child;
  if (pid === undefined) throw new Error('the API has no process');
  return {
    pid,
    lines,
    ended,
    managementKey,
    url: `http://127.0.0.1:${String(port)}`,
    managementUrl: `http://127.0.0.1:${String(managementPort)}`,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** The ports in the line that says that the API listens. */
function portsIn(line: string): { port: number; managementPort: number } | undefined {
  const [, port, managementPort] = /"port":(\d+),"management_port":(\d+),"msg":"listening"/.exec(line) ?? [];
  return port === undefined ? undefined : { port: Number(port), managementPort: Number(managementPort) };
}
