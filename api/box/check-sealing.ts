import type { Connections } from '../db/core/pool.ts';
import type { KeySealing } from '../credentials/key-sealing.ts';
import { newestSigningKey } from '../db/client-auth/signing-key.ts';
import { sealedFor } from './key-ring.ts';

/**
 * Opens the newest signing key of the database, if it has one: with a wrong BOXGATE_ENCRYPTION_KEY no JWT could be
 * signed. Throws an Error of one sentence, or Outage if Postgres cannot answer.
 */
export async function checkSealing(pool: Connections, sealing: KeySealing): Promise<void> {
  const key = await newestSigningKey(pool);
  if (key === undefined) return;
  try {
    sealing.open(key.privateKey, sealedFor(key.box, key.kid)).fill(0);
  } catch (cause) {
    throw new Error('BOXGATE_ENCRYPTION_KEY holds no key that opens the signing keys of this database', { cause });
  }
}
