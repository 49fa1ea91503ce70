import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import type { ProgramEnvironment } from './find-programs.ts';
import type { Program } from './release.ts';

const modules = path.join(import.meta.dirname, 'modules');

/** Builds programs from the pinned Go modules into a folder. Throws where Go is missing or a build fails. */
export async function build(
  programs: readonly Program[],
  folder: string,
  tell: (line: string) => void,
  environment: ProgramEnvironment,
): Promise<void> {
  const version = /^\tk8s\.io\/kubernetes (v\S+)/m.exec(goMod('kubernetes'))?.[1];
  if (version === undefined) throw new Error('modules/kubernetes/go.mod requires no k8s.io/kubernetes');
  for (const { name, module, source } of programs) {
    tell(`building ${name} (all of them: about 13 minutes on two cores where nothing is cached)`);
    const draft = path.join(folder, `.${name}`);
    await goBuild(module, ['-ldflags', linkerFlags(version), '-o', draft, source], environment);
    await rename(draft, path.join(folder, name));
  }
}

function goMod(module: string): string {
  return readFileSync(path.join(modules, module, 'go.mod'), 'utf8');
}

/** What the release scripts of Kubernetes set, so that the programs know their version; etcd has no such variables. */
function linkerFlags(version: string): string {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const variables = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) => [
    `-X ${name}.gitVersion=${version}`,
    `-X ${name}.gitMajor=${major}`,
    `-X ${name}.gitMinor=${minor}`,
  ]);
  return ['-s', '-w', ...variables].join(' ');
}

/** -mod=readonly: a source whose checksum go.sum does not have fails instead of being added. */
function goBuild(module: string, options: readonly string[], environment: ProgramEnvironment): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', ['build', '-C', path.join(modules, module), ...options], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...environment, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=readonly -buildvcs=false' },
    });
    child.on('error', (cause) => reject(new Error('what is missing cannot be built: Go is not installed', { cause })));
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`go build ended with ${String(code)}`));
    });
  });
}
