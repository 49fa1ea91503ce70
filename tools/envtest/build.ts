import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ProgramEnvironment } from './find-programs.ts';
import { goBuild } from './go-build.ts';
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

/** Builds programs from the pinned Go modules into a folder. Throws if a build fails. */
export async function build(programs: readonly Program[], builder: Builder): Promise<void> {
  const { go, environment, folder, tell } = builder;
  const version = /^\tk8s\.io\/kubernetes (v\S+)/m.exec(goMod('kubernetes'))?.[1];
  if (version === undefined) throw new Error('modules/kubernetes/go.mod requires no k8s.io/kubernetes');
  for (const { name, module, source, minutes } of programs) {
    const time = minutes === 1 ? 'a minute' : `${String(minutes)} minutes`;
    tell(`building ${name} (about ${time} on two cores where nothing is cached)`);
    const output = path.join(folder, name);
    const program = { module: path.join(goModules, module), source, output, linkerFlags: linkerFlags(version) };
    await goBuild(go, environment, program);
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
