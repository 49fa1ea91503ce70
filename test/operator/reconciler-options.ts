import { createSecretKey } from 'node:crypto';
import type { ReconcilerOptions } from '../../operator/reconcile/reconciler.ts';

/** Options of a reconciler of which no test wants others: real time, chance in the middle, one sweep at its start. */
export function plainOptions(apiUrl: string) {
  return {
    digestKey: createSecretKey(Buffer.alloc(32, 3)),
    defaultIssuer: (box) => `${apiUrl}/boxes/${box}`,
    now: () => new Date(),
    random: () => 0.5,
    schedule(wait, callback) {
      const timer = setTimeout(callback, wait);
      return () => clearTimeout(timer);
    },
    sweepPeriod: 600_000,
    onProgress: () => undefined,
  } satisfies Partial<ReconcilerOptions>;
}
