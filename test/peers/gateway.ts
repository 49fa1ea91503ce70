import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../support/eventually.ts';
import { ownPort } from '../support/own-port.ts';
import { findGateway, gateways } from '../../tools/needs/gateways.ts';

/** A gateway that tests put in front of an app. */
export type GatewayName = keyof typeof gateways;

/** A running gateway. */
export interface RunningGateway {
  readonly url: string;
  stop(): Promise<void>;
}

/** The form of a gateway's configuration file, and the options that start it. */
interface Start {
  readonly file: (configuration: string, port: number, folder: string) => string;
  readonly options: (folder: string, file: string) => readonly string[];
}

const starts: Readonly<Record<GatewayName, Start>> = {
  nginx: {
    file: (locations, port, folder) => {
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      return `${user} daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr warn;
        events { worker_connections 64; }
        http { access_log off; ${kept.join(' ')} server { listen 127.0.0.1:${String(port)}; ${locations} } }`;
    },
    options: (folder, file) => ['-p', folder, '-e', 'stderr', '-c', file],
  },
  caddy: {
    file: (site, port) => `{\n  admin off\n}\n${site.replaceAll('PORT', String(port))}`,
    options: (_folder, file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
};

/**
 * Starts a gateway on a loopback port: nginx with locations, Caddy with a site, in which PORT is the port. Throws where
 * the program is missing or refuses the configuration.
 */
export async function startGateway(name: GatewayName, configuration: string): Promise<RunningGateway> {
  const program = findGateway(gateways[name], process.env);
  const { variable } = gateways[name];
  if (program === undefined) throw new Error(`no ${name}: run make needs, or say with ${variable} where there is one`);
  const port = await ownPort();
  const folder = mkdtempSync(path.join(tmpdir(), `boxgate-${name}-`));
  const file = path.join(folder, 'configuration');
  writeFileSync(file, starts[name].file(configuration, port, folder));
  const said: string[] = [];
  const child = spawn(program, starts[name].options(folder, file), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder },
  });
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString('utf8')));
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${String(port)}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await ended;
    rmSync(folder, { recursive: true });
  };
  try {
    await eventually(`${name} answers, or has ended`, async () => child.exitCode !== null || (await answers(url)));
    if (child.exitCode !== null) throw new Error(`${name} has ended: ${said.join('')}`);
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
