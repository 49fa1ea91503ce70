import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../support/eventually.ts';
import { ownPort } from '../support/own-port.ts';
import { findNginx } from '../../tools/needs/nginx.ts';

/** An nginx of its own. */
export interface Nginx {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts nginx on a loopback port with the locations of a configuration. Throws where there is no nginx. */
export async function startNginx(locations: string): Promise<Nginx> {
  const program = findNginx(process.env);
  if (program === undefined) throw new Error('no nginx: run make needs, or say with NGINX_PATH where there is one');
  const port = await ownPort();
  const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-nginx-'));
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const text = `${user} daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr warn;
    events { worker_connections 64; }
    http { access_log off; ${kept.join(' ')} server { listen 127.0.0.1:${String(port)}; ${locations} } }`;
  const file = path.join(folder, 'nginx.conf');
  writeFileSync(file, text);
  const said: string[] = [];
  const child = spawn(program, ['-p', folder, '-e', 'stderr', '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString('utf8')));
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${String(port)}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await ended;
    rmSync(folder, { recursive: true });
  };
  try {
    await eventually('nginx answers, or has ended', async () => child.exitCode !== null || (await answers(url)));
    if (child.exitCode !== null) throw new Error(`nginx has ended: ${said.join('')}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

async function answers(url: string): Promise<boolean> {
  await fetch(url);
  return true;
}
