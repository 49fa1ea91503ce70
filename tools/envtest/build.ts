import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { getCACertificates } from 'node:tls';
import type { ProgramEnvironment } from './find-programs.ts';
import { goModules } from './go.ts';
import type { Program } from './release.ts';

/** The parts that a build works with. */
interface Builder {
  /** The `go` command. */
  readonly go: string;
  /** The folder for the programs. */
  readonly folder: string;
  readonly tell: (line: string) => void;
  readonly environment: ProgramEnvironment;
}

/** Builds programs from the pinned Go modules into a folder. Throws where a build fails. */
export async function build(programs: readonly Program[], builder: Builder): Promise<void> {
  const { folder, tell } = builder;
  const version = /^\tk8s\.io\/kubernetes (v\S+)/m.exec(goMod('kubernetes'))?.[1];
  if (version === undefined) throw new Error('modules/kubernetes/go.mod requires no k8s.io/kubernetes');
  const certificates = path.join(folder, '.certificates.pem');
  await writeFile(certificates, getCACertificates('default').join('\n'));
  try {
    for (const { name, module, source, minutes } of programs) {
      const time = minutes === 1 ? 'a minute' : `${String(minutes)} minutes`;
      tell(`building ${name} (about ${time} on two cores where nothing is cached)`);
      const draft = path.join(folder, `.${name}`);
      await goBuild(builder, module, ['-ldflags', linkerFlags(version), '-o', draft, source], certificates);
      await rename(draft, path.join(folder, name));
    }
  } finally {
    await rm(certificates, { force: true });
  }
}

function goMod(module: string): string {
  return readFileSync(path.join(goModules, module, 'go.mod'), 'utf8');
}

/** Returns the linker flags of the Kubernetes release scripts, which tell the programs their version; etcd has none. */
function linkerFlags(version: string): string {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const variables = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) => [
    `-X ${name}.gitVersion=${version}`,
    `-X ${name}.gitMajor=${major}`,
    `-X ${name}.gitMinor=${minor}`,
  ]);
  return ['-s', '-w', ...variables].join(' ');
}

/**
 * -mod=readonly: a source whose checksum go.sum does not have fails instead of being added.
 * SSL_CERT_FILE: Go brings no certificate authorities along as Node.js does, and a small Debian has none.
 */
function goBuild(
  { go, environment }: Builder,
  module: string,
  options: readonly string[],
  certificates: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(go, ['build', '-C', path.join(goModules, module), ...options], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        SSL_CERT_FILE: certificates,
        ...environment,
        GOTOOLCHAIN: 'local',
        CGO_ENABLED: '0',
        GOWORK: 'off',
        GOFLAGS: '-mod=readonly -buildvcs=false',
      },
    });
    child.on('error', (cause) => reject(new Error(`${go} cannot be run`, { cause })));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`go build ended with ${String(code)}`));
    });
  });
}
