import { readE2eConfig } from './config.ts';
import { runCommand } from './run-command.ts';

/** Namespace of the installation, and name of the release. */
export const system = 'boxgate-system';
export const release = 'boxgate';

/** Settings of an installation in addition to the images, as `--set` takes them. */
export type Values = Readonly<Record<string, string>>;

/** Installs the chart, or upgrades the release, and waits until everything is Ready. Returns what helm prints. */
export function install(values: Values = {}, { timeout = '180s' } = {}): Promise<string> {
  return runCommand('helm', [
    ...['upgrade', '--install', release, 'charts/boxgate', '--namespace', system, '--create-namespace'],
    ...['--wait', '--timeout', timeout],
    ...setOptions(values),
  ]);
}

/** Returns the options of helm that choose the images of the run and the values given. */
export function setOptions(values: Values = {}): readonly string[] {
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
