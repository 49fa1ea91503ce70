import { createServer } from 'node:net';
import { DevError } from './dev-error.ts';

/** A port on 127.0.0.1 that is free now: the wanted one, or any for 0. Throws DevError when the wanted one is in use. */
export async function freePort(wanted: number, option: string): Promise<number> {
  const probe = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen(wanted, '127.0.0.1', () => {
        const address = probe.address();
        resolve(typeof address === 'object' && address !== null ? address.port : wanted);
      });
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const port = String(wanted);
    if (code === 'EADDRINUSE')
      throw new DevError(`Port ${port} is in use; choose another with ${option} (0: any free one)`);
    throw new DevError(`Port ${port} cannot be opened; choose another with ${option} (0: any free one)`, {
      cause: error,
    });
  } finally {
    probe.close();
  }
}
