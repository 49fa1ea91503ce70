import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { runProgram } from '../run-program.ts';
import type { ProgramEnvironment } from './find-programs.ts';

/** A Go program to build. */
export interface GoProgram {
  /** The folder with the go.mod and go.sum that pin its sources. */
  readonly module: string;
  /** Its package, as `go build` takes it. */
  readonly source: string;
  /** The file of the program, which is there once it is whole. */
  readonly output: string;
  readonly linkerFlags: string;
  /** Build tags, separated by commas; none by default. */
  readonly tags?: string | undefined;
}

/**
 * Builds a Go program with a `go` command. A source whose checksum go.sum does not have is an error. Throws if the
 * build fails.
 */
export async function goBuild(
  go: string,
  environment: ProgramEnvironment,
  { module, source, output, linkerFlags, tags }: GoProgram,
): Promise<void> {
  const draft = `${output}.${String(process.pid)}`;
  const tagged = tags === undefined ? [] : ['-tags', tags];
  const parameters = ['build', '-C', module, ...tagged, '-ldflags', linkerFlags, '-o', draft, source];
  await mkdir(path.dirname(output), { recursive: true });
  await withGoEnvironment(environment, (env) => runProgram(go, parameters, { title: 'go build', env }));
  await rename(draft, output);
}

/**
 * Obtains the sources of a Go module, as `path@version`, and returns their folder, in which nothing can be written.
 * `folder` has the go.sum with its checksum. Throws if they cannot be obtained or are other ones.
 */
export async function goSources(
  go: string,
  environment: ProgramEnvironment,
  folder: string,
  module: string,
): Promise<string> {
  const parameters = ['mod', 'download', '-json', module];
  const run = promisify(execFile);
  const { stdout } = await withGoEnvironment(environment, (env) => run(go, parameters, { cwd: folder, env }));
  const [, sources] = /"Dir": "([^"]+)"/.exec(stdout) ?? [];
  if (sources === undefined) throw new Error(`go mod download named no folder of ${module}`);
  return sources;
}

/** Runs a `go` command with what every one of ours needs in its environment. */
async function withGoEnvironment<T>(
  environment: ProgramEnvironment,
  run: (env: ProgramEnvironment) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-go-'));
  const certificates = path.join(folder, 'certificates.pem');
  await writeFile(certificates, getCACertificates('default').join('\n'));
  try {
    return await run({
      // Go brings no certificate authorities along as Node.js does, and a small Debian has none.
      SSL_CERT_FILE: certificates,
      ...environment,
      GOTOOLCHAIN: 'local',
      CGO_ENABLED: '0',
      GOWORK: 'off',
      GOFLAGS: '-mod=readonly -buildvcs=false',
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}
