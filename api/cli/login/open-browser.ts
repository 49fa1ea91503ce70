import { spawn } from 'node:child_process';
import type { Environment } from '../../../process/environment.ts';

/** Opens an address in the browser of the person; does nothing where there is none, or no display. */
export function openBrowser(address: string, environment: Environment): void {
  const command = opener(environment);
  if (command === undefined) return;
  const [program, ...args] = command;
  // A browser that does not start is no failure: the address is printed too.
  spawn(program, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

function opener(environment: Environment): readonly [string, ...string[]] | undefined {
  if (process.platform === 'darwin') return ['open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const display = [environment['WAYLAND_DISPLAY'], environment['DISPLAY']].some((one) => (one ?? '') !== '');
  return display ? ['xdg-open'] : undefined;
}
