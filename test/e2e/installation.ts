import { readE2eConfig } from './config.ts';
import { kubectl } from './kubectl.ts';
import { runCommand } from './run-command.ts';

/** Namespace of the installation, and name of the release. */
export const system = 'boxgate-system';
export const release = 'boxgate';

/** Settings of an installation in addition to the images, as `--set` takes them. */
export type Values = Readonly<Record<string, string>>;

/** Creates the namespace of the installation, which enforces Pod Security `restricted`. */
export async function createSystemNamespace(): Promise<void> {
  await kubectl('create', 'namespace', system);
  await kubectl('label', 'namespace', system, 'pod-security.kubernetes.io/enforce=restricted');
}

/** Installs the chart, or upgrades the release, and waits until everything is Ready. Returns what helm prints. */
export function install(values: Values = {}): Promise<string> {
  const chart = ['upgrade', '--install', release, 'charts/boxgate', '--namespace', system, '--create-namespace'];
  return runCommand('helm', [...chart, '--wait', '--timeout', '10m', ...setOptions(values)], { timeout: 660_000 });
}

/** Returns the options of helm that choose the images of the run and the values given. */
function setOptions(values: Values = {}): readonly string[] {
  return Object.entries({ ...imageValues(), ...values }).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
}

function imageValues(): Values {
  const { image, postgresImage } = readE2eConfig();
  const boxgate = valuesOf('image', image);
  return postgresImage === undefined ? boxgate : { ...boxgate, ...valuesOf('postgres.bundled.image', postgresImage) };
}

function valuesOf(value: string, image: string): Values {
  const colon = image.lastIndexOf(':');
  return {
    [`${value}.repository`]: image.slice(0, colon),
    [`${value}.tag`]: image.slice(colon + 1),
    [`${value}.pullPolicy`]: 'IfNotPresent',
  };
}
