import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startChild, untilReady } from '../support/child-program.ts';
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
 * Starts a gateway on a loopback port: nginx with locations, Caddy with a site, in which PORT is the port. Throws if
 * the program is missing or refuses the configuration.
 */
export async function startGateway(name: GatewayName, configuration: string): Promise<RunningGateway> {
  const program = findGateway(gateways[name], process.env);
  const { variable } = gateways[name];
  if (program === undefined) throw new Error(`no ${name}: run make needs, or name one with ${variable}`);
  const port = await ownPort();
  const folder = mkdtempSync(path.join(tmpdir(), `boxgate-${name}-`));
  const file = path.join(folder, 'configuration');
  writeFileSync(file, starts[name].file(configuration, port, folder));
  const child = startChild(program, starts[name].options(folder, file), { env: { HOME: folder } });
  const url = `http://127.0.0.1:${String(port)}`;
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true });
  };
  try {
    await untilReady(child, name, () => answers(url));
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
