import type pg from 'pg';
import { Outage } from './outage.ts';

/** The fields of a notice that tell whether a commit was confirmed. */
interface Notice {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly where?: string | undefined;
}

/**
 * Runs a statement that ends with a commit. Throws Outage if Postgres answers the commit with a warning: the wait for
 * its synchronous standby was cut short, so a failover could lose what it stored.
 */
export async function confirmed<T>(connection: pg.PoolClient, run: () => Promise<T>): Promise<T> {
  const warnings: string[] = [];
  const hear = ({ code, where, message = '' }: Notice): void => {
    // A notice from inside a function has a context; that of a commit has none.
    if (code !== '00000' && where === undefined) warnings.push(message);
  };
  connection.on('notice', hear);
  const result = await run().finally(() => connection.off('notice', hear));
  if (warnings.length > 0) throw new Outage(`The commit is not confirmed: ${warnings.join('; ')}`);
  return result;
}
