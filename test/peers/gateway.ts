import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startChild, untilReady } from '../support/child-program.ts';
import { ownPort } from '../support/own-port.ts';
import { findGateway, gateways } from '../../tools/needs/gateways.ts';
import { findEnvoy } from './built/obtain-envoy.ts';
import { findTraefik } from './built/obtain-traefik.ts';

/** A gateway that tests put in front of an app. */
export type GatewayName = keyof typeof gateways | 'traefik' | 'envoy';

/** A running gateway. */
export interface RunningGateway {
  readonly url: string;
  stop(): Promise<void>;
}

/** The place of a gateway's program, the form of its configuration file, and the options that start it. */
interface Start {
  /** Returns the program, or undefined if there is none. */
  readonly program: () => string | undefined;
  /** The command that obtains the program, and the variable that may name it. */
  readonly obtained: string;
  readonly file: (configuration: string, port: number, folder: string) => string;
  readonly options: (folder: string, file: string, port: number) => readonly string[];
}

const starts: Readonly<Record<GatewayName, Start>> = {
  nginx: {
    program: () => findGateway(gateways.nginx, process.env),
    obtained: 'run make needs, or name one with NGINX_PATH',
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
    program: () => findGateway(gateways.caddy, process.env),
    obtained: 'run make needs, or name one with CADDY_PATH',
    file: (site, port) => `{\n  admin off\n}\n${site.replaceAll('PORT', String(port))}`,
    options: (_folder, file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  traefik: {
    program: () => findTraefik(process.env),
    obtained: 'run make peers, or name one with TRAEFIK_PATH',
    file: (routes) => routes,
    options: (_folder, file, port) => [
      `--entryPoints.web.address=127.0.0.1:${String(port)}`,
      `--providers.file.filename=${file}`,
      '--global.checkNewVersion=false',
      '--global.sendAnonymousUsage=false',
    ],
  },
  envoy: {
    program: () => findEnvoy(process.env),
    obtained: 'run make peers, or name one with ENVOY_PATH',
    file: (listeners, port) => listeners.replaceAll('PORT', String(port)),
    options: (_folder, file) => ['-c', file, '--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'],
  },
};

/**
 * Starts a gateway on a loopback port: nginx with locations, Caddy with a site and Envoy with its file, in which PORT
 * is the port, Traefik with the file of its provider `file`. Throws if the program is missing or refuses the
 * configuration.
 */
export async function startGateway(name: GatewayName, configuration: string): Promise<RunningGateway> {
  const { obtained, options, ...start } = starts[name];
  const program = start.program();
  if (program === undefined) throw new Error(`no ${name}: ${obtained}`);
  const port = await ownPort();
  const folder = mkdtempSync(path.join(tmpdir(), `boxgate-${name}-`));
  const file = path.join(folder, 'configuration.yaml');
  writeFileSync(file, start.file(configuration, port, folder));
  const child = startChild(program, options(folder, file, port), { env: { HOME: folder } });
  const url = `http://127.0.0.1:${String(port)}`;
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(folder, { recursive: true });
  };
  try {
    await untilReady(child, name, () => answers(name, url));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

/** Checks whether a gateway answers by its configuration: Traefik answers 404 until it has read it. */
async function answers(name: GatewayName, url: string): Promise<boolean> {
  const { status } = await fetch(url);
  return status !== 404 || name === 'envoy';
}
