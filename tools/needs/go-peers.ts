import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../cache-folder.ts';
import { goBuild } from '../envtest/go-build.ts';
import { obtainGo } from '../envtest/go.ts';
import { downloads } from '../envtest/release.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Software of others, in Go, that the tests use with a box. */
export interface GoPeer {
  /** Name of the folder with its go.mod and go.sum. */
  readonly name: string;
  /** The package that is built there. */
  readonly source: string;
  /** Build tags, separated by commas; none by default. */
  readonly tags?: string;
}

/** The Go programs of the tests. */
export const goPeers = {
  client: { name: 'client', source: '.' },
  oauth2Proxy: { name: 'oauth2-proxy', source: 'github.com/oauth2-proxy/oauth2-proxy/v7' },
} as const satisfies Readonly<Record<string, GoPeer>>;

/** Programs of the story that publishes a release: a registry, what attaches an SBOM, and what signs. */
export const publishingPrograms = {
  crane: { name: 'crane', source: 'github.com/google/go-containerregistry/cmd/crane' },
  oras: { name: 'oras', source: 'oras.land/oras/cmd/oras' },
  cosign: { name: 'cosign', source: 'github.com/sigstore/cosign/v2/cmd/cosign' },
} as const satisfies Readonly<Record<string, GoPeer>>;

/** The checker of the chart's alerts, built without the parts that find the targets of a Prometheus. */
export const promtool: GoPeer = {
  name: 'promtool',
  source: 'github.com/prometheus/prometheus/cmd/promtool',
  tags: 'remove_all_sd',
};

/** The folders with the sources, the go.mod and the go.sum of each program. */
const sources = path.join(import.meta.dirname, '..', '..', 'test', 'peers', 'go');

/** Returns the file of a program, which is there after {@link obtainGoPeers}; other sources have another file. */
export function goPeerFile(peer: GoPeer, environment: Variables): string {
  const { name } = peer;
  const folder = goPeerFolder(peer);
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(path.join(folder, file)));
  return path.join(cacheFolder(environment), 'peers', `${name}-${hash.digest('hex').slice(0, 16)}`);
}

/** Returns the folder with the go.mod and go.sum of a program. */
export function goPeerFolder({ name }: GoPeer): string {
  return path.join(sources, name);
}

/** Builds those of some programs that are not there yet. Throws an Error of one sentence. */
export async function obtainGoPeers(
  peers: readonly GoPeer[],
  environment: Variables,
  tell: (line: string) => void,
): Promise<void> {
  const missing = peers.filter((peer) => !existsSync(goPeerFile(peer, environment)));
  if (missing.length === 0) return;
  const go = await obtainGo(environment, tell, downloads.toolchain);
  for (const peer of missing) {
    const { name, source, tags } = peer;
    const output = goPeerFile(peer, environment);
    tell(`building ${name} (up to five minutes on two cores where nothing is cached)`);
    await goBuild(go, environment, { module: goPeerFolder(peer), source, output, linkerFlags: '-s -w', tags });
  }
}
