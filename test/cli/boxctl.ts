import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../../api/cli/run.ts';
import { portOf } from '../../program/environment.ts';
import { adminSecret, startBoxApi, type BoxApi } from '../http/resources/box-api.ts';
import { startChild, type ChildProgram } from '../support/child-program.ts';

/** Output and exit code of a run of boxctl. */
export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly messages: string;
}

/** The command `boxctl` of a person with a home folder of their own. */
export interface Boxctl {
  readonly home: string;
  /** Runs it in this process, with standard input that holds `input` and is no terminal. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>, input?: string): Promise<Ran>;
  /** Starts it on a terminal of its own (script(1)). */
  onTerminal(args: readonly string[], environment?: Readonly<Record<string, string>>): ChildProgram;
  remove(): Promise<void>;
}

/** The command as a checkout has it. */
const command = ['./boxctl'] as const;

/** Starts it for the box `default` of an API, with the credential of its client `admin`. */
export function startAdminBoxctl(server: string): Promise<Boxctl> {
  const credential = { BOXCTL_CLIENT_ID: 'admin', BOXCTL_CLIENT_SECRET: adminSecret };
  return startBoxctl({ BOXCTL_SERVER: server, BOXCTL_BOX: 'default', ...credential });
}

/** An API, and the command with the credential of its client `admin`. */
export interface AdminBoxctl {
  readonly api: BoxApi;
  readonly boxctl: Boxctl;
}

/** Starts an API and boxctl for the tests of a suite, and hands them over. */
export function onAdminBoxctl(set: (started: AdminBoxctl) => void): void {
  let started: AdminBoxctl | undefined;
  before(async () => {
    const api = await startBoxApi();
    started = { api, boxctl: await startAdminBoxctl(api.url) };
    set(started);
  });
  after(async () => {
    await started?.boxctl.remove();
    await started?.api.stop();
  });
}

/** The command with a token for the box `shop` of a server that is no box, or answers as one as a test needs it. */
export interface ServedBoxctl {
  readonly url: string;
  readonly boxctl: Boxctl;
  end(): Promise<void>;
}

/** Starts a server that answers as given, and boxctl at its address. */
export async function startServedBoxctl(
  answer: RequestListener,
  environment: Readonly<Record<string, string>> = { BOXCTL_TOKEN: 'x' },
): Promise<ServedBoxctl> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String(portOf(server))}`;
  const boxctl = await startBoxctl({ BOXCTL_SERVER: url, BOXCTL_BOX: 'shop', ...environment });
  return {
    url,
    boxctl,
    async end() {
      server.close();
      server.closeAllConnections();
      await boxctl.remove();
    },
  };
}

/** Makes a home folder, in which every run has the variables given. */
export async function startBoxctl(common: Readonly<Record<string, string>>): Promise<Boxctl> {
  const home = await mkdtemp(path.join(tmpdir(), 'boxctl-'));
  const environmentOf = (more: Readonly<Record<string, string>>): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    ...common,
    ...more,
  });
  return {
    home,
    async run(args, environment = {}, input = '') {
      const [output, messages] = [new PassThrough(), new PassThrough()];
      const terminal = { input: Readable.from([Buffer.from(input)]), output, messages };
      const code = await run(args, { terminal, environment: environmentOf(environment), home });
      output.end();
      messages.end();
      return { code, output: await text(output), messages: await text(messages) };
    },
    onTerminal(args, environment = {}) {
      const line = [...command, ...args].map((word) => `'${word}'`).join(' ');
      return startChild('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
        env: environmentOf({ TERM: 'xterm', SHELL: '/bin/sh', ...environment }),
      });
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}
