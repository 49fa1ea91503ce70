import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that Linux gives to who asks for any port. */
const [lowest, beyond] = [20_000, 30_000];

/**
 * A loopback port that is free now, and that no other process gets by chance: a server can be ended and started again
 * on it. A port that the system gave may be another one's as soon as it is closed.
 */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, beyond);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
