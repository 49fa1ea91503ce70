import pg from 'pg';
import { joinInstallation } from '../../api/db/core/installation.ts';
import type { Environment } from '../../program/environment.ts';
import { freshDatabase } from '../support/postgres.ts';

/** The names of the databases of an installation; the first is home. */
export const names = ['home', 'eu', 'us'] as const;

/** One of {@link names}. */
export type Name = (typeof names)[number];

/** A database as the API and its owner reach it. */
export interface Reached {
  readonly apiUrl: string;
  readonly ownerUrl: string;
}

/** Three databases of one installation. */
export interface ThreeDatabases {
  readonly urls: Readonly<Record<Name, string>>;
  ownerUrl(name: Name): string;
  /** Returns the settings of a replica that reaches the databases on these ports. */
  environment(ports?: Partial<Record<Name, number>>): Environment & { readonly BOXGATE_DATABASE_URL: string };
  /** Returns the databases that would serve a box. */
  servedIn(box: string): Promise<readonly Name[]>;
  drop(): Promise<void>;
}

/** Makes an installation of three databases on the Postgres of the tests, those that are given excepted. */
export async function threeDatabases(given: Partial<Record<Name, Reached>> = {}): Promise<ThreeDatabases> {
  const drops: (() => Promise<void>)[] = [];
  const make = async (): Promise<Reached> => {
    const database = await freshDatabase();
    drops.push(() => database.drop());
    return database;
  };
  const reached = {
    home: given.home ?? (await make()),
    eu: given.eu ?? (await make()),
    us: given.us ?? (await make()),
  };
  await joinInstallation(names.map((name) => ({ name, ownerUrl: reached[name].ownerUrl })));
  const owners = names.map(
    (name) => [name, new pg.Pool({ connectionString: reached[name].ownerUrl, max: 1 })] as const,
  );
  for (const [, owner] of owners) owner.on('error', () => undefined);
  const urls = { home: reached.home.apiUrl, eu: reached.eu.apiUrl, us: reached.us.apiUrl };
  return {
    urls,
    ownerUrl: (name) => reached[name].ownerUrl,
    environment: (ports = {}) => ({
      BOXGATE_DATABASES: names.join(),
      BOXGATE_DATABASE_URL: withPort(urls.home, ports.home),
      BOXGATE_DATABASE_URL_EU: withPort(urls.eu, ports.eu),
      BOXGATE_DATABASE_URL_US: withPort(urls.us, ports.us),
    }),
    async servedIn(box) {
      const found = owners.map(async ([name, owner]) => {
        const text = "SELECT FROM boxgate.box WHERE box = $1 AND (transit IS NULL OR transit = 'leaving')";
        return (await owner.query(text, [box])).rowCount === 0 ? [] : [name];
      });
      return (await Promise.all(found)).flat();
    },
    async drop() {
      await Promise.all(owners.map(([, owner]) => owner.end()));
      await Promise.all(drops.map((drop) => drop()));
    },
  };
}

function withPort(url: string, port: number | undefined): string {
  if (port === undefined) return url;
  const other = new URL(url);
  other.port = String(port);
  return other.href;
}
