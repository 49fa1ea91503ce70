import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { downloads } from '../../tools/envtest/release.ts';
import { obtainGo } from '../../tools/envtest/go.ts';
import { goBuild } from '../../tools/envtest/go-build.ts';
import { findPython } from '../../tools/needs/python.ts';
import { startChild, untilReady } from '../support/child-program.ts';
import { ownPort } from '../support/own-port.ts';

/** A server that a page shows, as it runs. */
export interface DocumentedProgram {
  readonly url: string;
  /** Returns what it has printed. */
  said(): string;
  stop(): Promise<void>;
}

/** Languages of the programs on a page, by the word of their code block. */
export type Language = 'js' | 'python' | 'go';

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
      writeFileSync(file('main.go'), source);
      await build(folder);
      return [file('api')];
  }
}

/** The modules of the tests' own program in Go: a page uses no others. */
const modules = path.join(import.meta.dirname, 'go', 'client');

async function build(folder: string): Promise<void> {
  for (const file of ['go.mod', 'go.sum']) copyFileSync(path.join(modules, file), path.join(folder, file));
  const go = await obtainGo(process.env, () => undefined, downloads.toolchain);
  await goBuild(go, process.env, {
    module: folder,
    source: '.',
    output: path.join(folder, 'api'),
    linkerFlags: '-s -w',
  });
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
