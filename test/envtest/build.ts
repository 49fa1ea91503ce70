import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import type { ProgramEnvironment } from './find-programs.ts';
import { goModules, obtainGo } from './go.ts';
import type { Program, Toolchain } from './release.ts';

/** Builds programs from the pinned Go modules into a folder. Throws where Go cannot be obtained or a build fails. */
export async function build(
  programs: readonly Program[],
  folder: string,
  tell: (line: string) => void,
  environment: ProgramEnvironment,
  toolchain: Toolchain,
): Promise<void> {
  const go = await obtainGo(environment, tell, toolchain);
  const version = /^\tk8s\.io\/kubernetes (v\S+)/m.exec(goMod('kubernetes'))?.[1];
  if (version === undefined) throw new Error('modules/kubernetes/go.mod requires no k8s.io/kubernetes');
  for (const { name, module, source, minutes } of programs) {
    tell(`building ${name} (about ${String(minutes)} minutes on two cores where nothing is cached)`);
    const draft = path.join(folder, `.${name}`);
    await goBuild(go, module, ['-ldflags', linkerFlags(version), '-o', draft, source], environment);
    await rename(draft, path.join(folder, name));
  }
}

function goMod(module: string): string {
  return readFileSync(path.join(goModules, module, 'go.mod'), 'utf8');
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
function goBuild(
  go: string,
  module: string,
  options: readonly string[],
  environment: ProgramEnvironment,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(go, ['build', '-C', path.join(goModules, module), ...options], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
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
