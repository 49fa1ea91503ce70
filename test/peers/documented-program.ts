import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { downloads } from '../../tools/envtest/release.ts';
import { obtainGo } from '../../tools/envtest/go.ts';
import { goSources } from '../../tools/envtest/go-build.ts';
import { findPython } from '../../tools/needs/python.ts';
import { writtenCommands } from '../dev/written-commands.ts';
import { startChild, untilReady } from '../support/child-program.ts';
import { ownPort } from '../support/own-port.ts';
import { replaced } from '../support/page-block.ts';

/** A server that a page shows, as it runs. */
export interface DocumentedProgram {
  readonly url: string;
  /** Returns what it has printed. */
  said(): string;
  stop(): Promise<void>;
}

/** Languages of the programs on a page, by the word of their code block. */
export type Language = 'js' | 'python' | 'go';

/** The program in Go that the last command of docs/guides/protect-your-api.md starts. */
const started = 'orders-go/api';

/** Starts a program, with the environment that it reads and a port of its own, and waits until it listens. */
export async function startProgram(
  language: Language,
  source: string,
  environment: Readonly<Record<string, string>>,
): Promise<DocumentedProgram> {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-program-'));
  const [command, ...parameters] = await prepared(language, source, folder);
  const port = await ownPort();
  const child = startChild(command, parameters, { cwd: folder, env: { PORT: String(port), ...environment } });
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true });
  };
  try {
    await untilReady(child, `the program in ${language}`, () => listens(port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${String(port)}`, said: () => child.said(), stop };
}

/** Writes a program into a folder, compiles it if its language asks for that, and returns its command. */
async function prepared(language: Language, source: string, folder: string): Promise<[string, ...string[]]> {
  const file = (name: string): string => path.join(folder, name);
  switch (language) {
    case 'js':
      writeFileSync(file('api.mjs'), source);
      symlinkSync(path.resolve('node_modules'), file('node_modules'));
      return [process.execPath, file('api.mjs')];
    case 'python':
      writeFileSync(file('api.py'), source);
      return [findPython(process.env) ?? 'python3', file('api.py')];
    case 'go':
      mkdirSync(file('orders-go'));
      writeFileSync(file('orders-go/main.go'), source);
      await buildAsWritten(folder);
      return [file(started)];
  }
}

const jose = 'github.com/go-jose/go-jose/v4';
/** The module of the tests' own program in Go, which pins the version and the sum of the package. */
const pinned = path.join(import.meta.dirname, 'go', 'client');

/** Builds the program of a folder `orders-go` by the commands of the page, up to the one that starts it. */
async function buildAsWritten(folder: string): Promise<void> {
  const go = await obtainGo(process.env, () => undefined, downloads.toolchain);
  const { PATH = '', ...others } = process.env;
  const env = {
    ...others,
    PATH: go === 'go' ? PATH : `${path.dirname(go)}${path.delimiter}${PATH}`,
    ...{ GOPROXY: await proxyOfJose(go, folder), GOSUMDB: 'off', GONOSUMDB: '', GONOPROXY: '', GOPRIVATE: '' },
    ...{ GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' },
  };
  const commands = writtenCommands(readFileSync('docs/guides/protect-your-api.md', 'utf8')).filter((one) =>
    one.startsWith('go '),
  );
  const lines = replaced(commands.join('\n'), { [` && ${started} &`]: '' });
  await promisify(execFile)('bash', ['-euc', lines], { cwd: folder, env });
}

/**
 * Returns a module proxy in files with the pinned version alone, so that the page's command finds the same everywhere,
 * and without a network.
 */
async function proxyOfJose(go: string, folder: string): Promise<string> {
  const [, version = ''] = new RegExp(`${jose} (v\\S+)`).exec(readFileSync(path.join(pinned, 'go.mod'), 'utf8')) ?? [];
  const sources = await goSources(go, process.env, pinned, `${jose}@${version}`);
  const cached = path.join(sources.slice(0, -`${jose}@${version}`.length), 'cache', 'download', jose, '@v');
  const proxy = path.join(folder, 'proxy');
  const versions = path.join(proxy, jose, '@v');
  mkdirSync(versions, { recursive: true });
  writeFileSync(path.join(versions, 'list'), `${version}\n`);
  for (const end of ['info', 'mod', 'zip']) {
    copyFileSync(path.join(cached, `${version}.${end}`), path.join(versions, `${version}.${end}`));
  }
  return `file://${proxy}`;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
