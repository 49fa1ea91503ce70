import { createHmac } from 'node:crypto';
import { deriveKey } from './derived-key.ts';

/** Returns the slot in which failures at something are counted: 5 hexadecimal digits of a keyed hash of its parts. */
export type FailureSlot = (...parts: readonly string[]) => string;

/**
 * Creates slots under a key of the installation. There are about a million in each box, so that guesses at accounts
 * that do not exist cannot fill the database. Without the key nobody can choose two accounts of one slot, or learn an
 * email from it.
 */
export function createFailureSlot(installationKey: Buffer): FailureSlot {
  const key = deriveKey(installationKey, 'failure slot');
  return (...parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex').slice(0, 5);
}
