import { startBoxgate } from './boxgate-process.ts';
import type { BoxgateOptions, BoxgateProcess } from './boxgate-process.ts';
import type { TestDatabase } from '../support/postgres.ts';

/** `boxgate dev` that serves. */
export interface DevProcess {
  readonly boxgate: BoxgateProcess;
  /** From its line `ready <url>`; the box is there when it is the only one. */
  readonly url: string;
}

/** Ports that are free wherever the test runs. */
export const anyPorts = ['--port', '0', '--management-port', '0'] as const;

/** Returns the options that make `boxgate dev` use a database, whose owner may create no role. */
export function urlsOf({ ownerUrl, apiUrl }: Pick<TestDatabase, 'ownerUrl' | 'apiUrl'>): readonly string[] {
  return ['--database-url', ownerUrl, '--api-database-url', apiUrl];
}

/** Starts `boxgate dev` on a folder, on any free ports, and waits until it is ready. */
export async function startDev(
  folder: string,
  args: readonly string[] = [],
  options: BoxgateOptions = {},
): Promise<DevProcess> {
  const boxgate = startBoxgate(['dev', folder, ...anyPorts, ...args], options);
  const [, url = ''] = await boxgate.said(/^ready (http:\/\/127\.0\.0\.1:\d+)$/m);
  return { boxgate, url };
}
