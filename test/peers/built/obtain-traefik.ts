import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { goBuild, goSources } from '../../../tools/envtest/go-build.ts';
import { obtainGo } from '../../../tools/envtest/go.ts';
import { downloads } from '../../../tools/envtest/release.ts';
import { findCommand } from '../../../tools/needs/commands.ts';
import { goPeerFile, goPeerFolder } from '../../../tools/needs/go-peers.ts';
import type { GoPeer } from '../../../tools/needs/go-peers.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const peer: GoPeer = { name: 'traefik', source: './cmd/traefik' };
const command = { title: 'Traefik', names: ['traefik'], variable: 'TRAEFIK_PATH', package: 'traefik' };

/** Returns Traefik: the one of TRAEFIK_PATH or of the PATH, otherwise the built one; undefined if there is none. */
export function findTraefik(environment: Variables): string | undefined {
  const built = goPeerFile(peer, environment);
  return findCommand(command, environment) ?? (existsSync(built) ? built : undefined);
}

/**
 * Builds Traefik from its Go module if there is none. Its module cannot be built as it is: the pages of its dashboard
 * are not part of it, and not every module of a DNS provider of ACME and of digest authentication can be obtained. So a
 * copy of it is built without these three. Throws an Error of one sentence.
 */
export async function obtainTraefik(environment: Variables, tell: (line: string) => void): Promise<void> {
  if (findTraefik(environment) !== undefined) return;
  const go = await obtainGo(environment, tell, downloads.toolchain);
  tell('building traefik (four minutes on two cores where nothing is cached)');
  const output = goPeerFile(peer, environment);
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-traefik-'));
  try {
    const module = await reducedModule(go, environment, folder);
    await goBuild(go, environment, { module, source: peer.source, output, linkerFlags: '-s -w' });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes a copy of Traefik's module, without what cannot be built, into a folder, and returns where it is. */
async function reducedModule(go: string, environment: Variables, folder: string): Promise<string> {
  const pinned = goPeerFolder(peer);
  const [traefik, lego] = [path.join(folder, 'traefik'), path.join(folder, 'lego')];
  for (const [module, target] of [
    ['github.com/traefik/traefik/v3', traefik],
    ['github.com/go-acme/lego/v4', lego],
  ] as const) {
    const sources = await goSources(go, environment, pinned, `${module}@${await pinnedVersion(module)}`);
    await copyWritable(sources, target);
  }
  await mkdir(path.join(traefik, 'webui', 'static'), { recursive: true });
  await writeFile(path.join(traefik, 'webui', 'static', 'index.html'), 'The dashboard is left out of this build.\n');
  await cp(path.join(pinned, 'digest_auth.go'), path.join(traefik, 'pkg', 'middlewares', 'auth', 'digest_auth.go'));
  await rm(path.join(lego, 'providers', 'dns'), { recursive: true });
  await mkdir(path.join(lego, 'providers', 'dns'));
  await cp(path.join(pinned, 'dns.go'), path.join(lego, 'providers', 'dns', 'dns.go'));
  const goMod = path.join(traefik, 'go.mod');
  const original = `github.com/abbot/go-http-auth ${await pinnedVersion('github.com/abbot/go-http-auth')}`;
  const text = (await readFile(goMod, 'utf8')).replace(
    /(=>) github\.com\/containous\/go-http-auth \S+/,
    `$1 ${original}`,
  );
  await writeFile(goMod, `${text}\nreplace github.com/go-acme/lego/v4 => ${lego}\n`);
  await appendFile(path.join(traefik, 'go.sum'), await readFile(path.join(pinned, 'go.sum')));
  return traefik;
}

/** Copies the sources of a module. What Go has downloaded is read-only. */
async function copyWritable(sources: string, target: string): Promise<void> {
  await cp(sources, target, { recursive: true, filter: (file) => !file.endsWith('_test.go') });
  await promisify(execFile)('chmod', ['-R', 'u+w', target]);
}

async function pinnedVersion(module: string): Promise<string> {
  const text = await readFile(path.join(goPeerFolder(peer), 'go.mod'), 'utf8');
  const line = text.split('\n').find((found) => found.trim().startsWith(`${module} `));
  const version = line?.trim().split(' ')[1];
  if (version === undefined) throw new Error(`the go.mod of ${peer.name} requires no ${module}`);
  return version;
}
