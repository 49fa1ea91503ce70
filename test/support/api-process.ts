import { randomBytes } from 'node:crypto';
import type { Environment } from '../../program/environment.ts';
import { testEncryptionKey } from './api.ts';
import { comparedResponses } from './responses/hooks.ts';
import { startLoggedProcess, type LoggedProcess } from './logged-process.ts';
import { oneFile } from './one-file.ts';

/** `boxgate api` in a process of its own. */
export interface ApiProcess extends LoggedProcess {
  /** `http://127.0.0.1:<port>`; a box is at `/boxes/<box>`. */
  readonly url: string;
  readonly managementUrl: string;
  readonly managementKey: string;
}

/**
 * Starts the API on a database, in a wrapper of `startLoggedProcess` if one is given, and waits until it listens.
 * Throws with what it said when it ends instead.
 */
export async function startApiProcess(
  databaseUrl: string,
  environment: Environment = {},
  wrapper: readonly string[] = [],
): Promise<ApiProcess> {
  const managementKey = environment['BOXGATE_MANAGEMENT_KEYS'] ?? randomBytes(16).toString('hex');
  const running = await startLoggedProcess(
    [await oneFile('test/support/responses/preload.ts', 'api/main.ts'), 'api'],
    {
      BOXGATE_DATABASE_URL: databaseUrl,
      BOXGATE_HOST: '127.0.0.1',
      BOXGATE_PORT: '0',
      BOXGATE_MANAGEMENT_PORT: '0',
      BOXGATE_MANAGEMENT_KEYS: managementKey,
      BOXGATE_ENCRYPTION_KEY: testEncryptionKey,
      BOXGATE_PUBLIC_URL: 'http://boxgate.test',
      // Callers of a test do not wait for the end of its API.
      BOXGATE_LINGER_SECONDS: '0',
      ...comparedResponses(),
      ...environment,
    },
    portsIn,
    wrapper,
  );
  return {
    ...running,
    managementKey,
    url: `http://127.0.0.1:${running.found.port}`,
    managementUrl: `http://127.0.0.1:${running.found.managementPort}`,
  };
}

/** The ports in the line that says that the API listens. */
function portsIn(line: string): { port: string; managementPort: string } | undefined {
  const [, port, managementPort] = /"port":(\d+),"management_port":(\d+),"msg":"listening"/.exec(line) ?? [];
  return port === undefined || managementPort === undefined ? undefined : { port, managementPort };
}
