import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { findCommand } from './commands.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** The web server of the tests that stand behind a gateway. It is never installed: a package would start it. */
const nginx = { title: 'nginx', names: ['nginx'], variable: 'NGINX_PATH', package: 'nginx' } as const;

/** Returns nginx: that of NGINX_PATH, of the PATH or of Debian, else the unpacked one; undefined where there is none. */
export function findNginx(environment: Variables): string | undefined {
  const folders = [environment['PATH'] ?? '', '/usr/sbin', path.join(unpackedFolder(environment), 'usr', 'sbin')];
  return findCommand(nginx, { ...environment, PATH: folders.join(path.delimiter) });
}

/** Unpacks nginx from its package of Debian where there is none. Throws an Error of one sentence. */
export async function obtainNginx(environment: Variables, tell: (line: string) => void): Promise<void> {
  if (findNginx(environment) !== undefined) return;
  const folder = unpackedFolder(environment);
  tell('unpacking nginx from its package of Debian (some seconds)');
  try {
    mkdirSync(folder, { recursive: true });
    await download(folder).catch(async () => {
      // A machine may have no lists of packages yet.
      await run('apt-get', ['update', '-qq'], folder);
      await download(folder);
    });
    await run('sh', ['-c', 'dpkg-deb -x nginx_*.deb .'], folder);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown';
    throw new Error(`nginx not found (${reason}): install it, or name one with NGINX_PATH`, { cause });
  }
}

function download(folder: string): Promise<void> {
  // Its user for downloads may not write to the folder, and would warn of that.
  return run('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', 'nginx'], folder);
}

function unpackedFolder({ XDG_CACHE_HOME: cache = '' }: Variables): string {
  return path.join(cache === '' ? path.join(homedir(), '.cache') : cache, 'boxgate', 'nginx');
}

function run(command: string, parameters: readonly string[], folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${parameters.join(' ')} ended with ${String(code)}`));
    });
  });
}
