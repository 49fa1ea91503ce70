import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates } from 'node:tls';
import { runProgram } from '../run-program.ts';
import type { ProgramEnvironment } from './find-programs.ts';

/** A Go program to build. */
export interface GoProgram {
  /** The folder with the go.mod and go.sum that pin its sources. */
  readonly module: string;
  /** Its package, as `go build` takes it. */
  readonly source: string;
  /** The file to write. */
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
  const folder = await mkdtemp(path.join(tmpdir(), 'boxgate-go-'));
  const certificates = path.join(folder, 'certificates.pem');
  await writeFile(certificates, getCACertificates('default').join('\n'));
  const tagged = tags === undefined ? [] : ['-tags', tags];
  const parameters = ['build', '-C', module, ...tagged, '-ldflags', linkerFlags, '-o', output, source];
  const env = {
    // Go brings no certificate authorities along as Node.js does, and a small Debian has none.
    SSL_CERT_FILE: certificates,
    ...environment,
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
    GOWORK: 'off',
    GOFLAGS: '-mod=readonly -buildvcs=false',
  };
  try {
    await runProgram(go, parameters, { title: 'go build', env });
  } finally {
    await rm(folder, { recursive: true });
  }
}
