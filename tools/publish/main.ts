// `make publish REGISTRY=images.example.com/team`: pushes the image with its SBOM, and the chart, to an OCI registry.
// With SIGN=<key> or SIGN=keyless, cosign signs both.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isObject } from '../../crds/path.ts';
import { publicationOf, PublishError, signingOf } from './publication.ts';
import type { Checkout, Publication } from './publication.ts';

const docker = process.env['DOCKER'] ?? 'docker';
const helm = process.env['HELM'] ?? 'helm';
const oras = process.env['ORAS'] ?? 'oras';
const cosign = process.env['COSIGN'] ?? 'cosign';

/** Media type and artifact type of an SBOM in CycloneDX. */
const cycloneDx = 'application/vnd.cyclonedx+json';

const folder = mkdtempSync(path.join(tmpdir(), 'boxgate-publish-'));
try {
  const [registry = '', version = '', sign = ''] = process.argv.slice(2);
  const publication = publicationOf(registry, version, checkout());
  for (const [program, parameters] of [
    [docker, ['version']],
    [helm, ['version']],
    [oras, ['version']],
  ] as const) {
    checkProgram(program, parameters, 'install docker, helm and oras, and start docker');
  }
  const signing = signingOf(sign, publication);
  if (signing !== undefined) checkProgram(cosign, ['version'], 'install cosign, or leave SIGN out');
  const image = pushImage(publication);
  attachSbom(publication, image);
  const chart = pushChart(publication);
  if (signing !== undefined) for (const subject of [image, chart]) run(cosign, signing(subject));
  process.stdout.write(`published ${image}
with its SBOM: oras discover ${image}
install it: helm install boxgate ${publication.charts}/boxgate --version ${publication.version}
`);
} catch (error) {
  if (!(error instanceof PublishError)) throw error;
  process.stderr.write(`publish: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

function checkout(): Checkout {
  const described: unknown = JSON.parse(readFileSync('package.json', 'utf8'));
  return {
    version: isObject(described) ? String(described['version']) : '',
    tags: output('git', ['tag', '--points-at', 'HEAD']).split('\n'),
    changed: output('git', ['status', '--porcelain']).trimEnd(),
  };
}

/** Throws PublishError if a program cannot be run. */
function checkProgram(program: string, parameters: readonly string[], advice: string): void {
  try {
    output(program, parameters);
  } catch (cause) {
    throw new PublishError(`${program} cannot be used: ${advice}`, { cause });
  }
}

/** Builds and pushes the image. Returns its name with its digest. */
function pushImage({ image, version }: Publication): string {
  const tagged = `${image}:${version}`;
  run('make', ['image', `IMAGE=${tagged}`, `VERSION_OF_PACKAGE=${version}`, `DOCKER=${docker}`]);
  run(docker, ['push', tagged]);
  const names = output(docker, ['image', 'inspect', '--format', '{{join .RepoDigests "\\n"}}', tagged]).split('\n');
  const named = names.find((name) => name.startsWith(`${image}@`));
  if (named === undefined) throw new PublishError(`the registry told no digest of ${tagged}: push it again`);
  return named;
}

/** Attaches the SBOM of the image to it, as an artifact that refers to it (OCI distribution 1.1). */
function attachSbom({ version, isPlain }: Publication, image: string): void {
  const file = `boxgate-${version}.cdx.json`;
  writeFileSync(path.join(folder, file), output(process.execPath, ['tools/image/sbom.ts']));
  const options = ['--artifact-type', cycloneDx, ...(isPlain ? ['--plain-http'] : [])];
  run(oras, ['attach', ...options, image, `${file}:${cycloneDx}`], folder);
}

/** Pushes the chart, whose image is that of the registry. Returns its name with its digest. */
function pushChart({ image, charts, version, isPlain }: Publication): string {
  const chart = path.join(folder, 'boxgate');
  cpSync('charts/boxgate', chart, { recursive: true });
  const values = readFileSync(path.join(chart, 'values.yaml'), 'utf8');
  const published = values.replace(/^ {2}repository: boxgate$/m, () => `  repository: ${image}`);
  if (published === values) throw new PublishError('charts/boxgate/values.yaml names no image to replace');
  writeFileSync(path.join(chart, 'values.yaml'), published);
  run(helm, ['package', chart, '--version', version, '--app-version', version, '--destination', folder]);
  const archive = path.join(folder, `boxgate-${version}.tgz`);
  const plain = isPlain ? ['--plain-http'] : [];
  run(helm, ['push', archive, charts, ...plain]);
  const name = `${charts.replace('oci://', '')}/boxgate`;
  return `${name}@${output(oras, ['resolve', ...plain, `${name}:${version}`]).trim()}`;
}

function run(program: string, parameters: readonly string[], cwd?: string): void {
  try {
    execFileSync(program, parameters, { stdio: 'inherit', cwd });
  } catch (cause) {
    throw new PublishError(`${program} ${parameters[0] ?? ''} failed; what it said is above`, { cause });
  }
}

function output(program: string, parameters: readonly string[]): string {
  return execFileSync(program, parameters, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
}
