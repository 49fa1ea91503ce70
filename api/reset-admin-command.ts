import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ResetAdminConfig } from './config.ts';
import { createHashQueue } from './credentials/hash-queue.ts';
import { createPasswords } from './credentials/password.ts';
import { upkeepAuditDays } from './db/audit/audit-days.ts';
import { Moved } from './db/core/outage.ts';
import { createPool, defaultLimits } from './db/core/pool.ts';
import { checkDatabase } from './db/core/startup.ts';
import { resetAdmin } from './users/reset-admin.ts';

/**
 * Runs `boxgate admin reset <box> <email>`: reads the new password from `input`, without its last line break.
 * Resolves with the sentence to print. Throws an Error of one sentence.
 */
export async function runResetAdmin(
  { databases, encryptionKeys, revocationsNeedStandby }: ResetAdminConfig,
  box: string,
  email: string,
  input: Readable,
): Promise<string> {
  const password = (await text(input)).replace(/\r?\n$/, '');
  if (password === '') throw new Error('The new password is missing: send it on standard input');
  const passwords = createPasswords(createHashQueue(1, 1), encryptionKeys);
  const trail = { origin: { operator: 'boxgate admin reset' }, now: Date.now, log: () => undefined };
  for (const { url } of databases) {
    const pool = createPool(url, { ...defaultLimits, connections: 1 }, 'boxgate-admin', () => undefined);
    try {
      await checkDatabase(pool);
      // The API may never have run on this database.
      await upkeepAuditDays(pool);
      const isNew = await resetAdmin({ pool, passwords, trail, revocationsNeedStandby }, { box, email, password });
      if (isNew !== undefined)
        return `box ${box}: ${email} ${isNew ? 'was created' : 'has a new password'} and is an administrator`;
    } catch (error) {
      // Its present database is another one of these.
      if (!(error instanceof Moved)) throw error;
    } finally {
      await pool.end();
    }
  }
  throw new Error(`There is no box ${box}`);
}
