import { claimEpoch, startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { freshDatabase, homeOf } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres.ts';

/** An installation on two databases, home and eu, whose boxes have a client `app` each. */
export interface TwoDatabases {
  readonly home: TestDatabase;
  readonly eu: TestDatabase;
  /** The running API; another one after {@link TwoDatabases.restart}. */
  api(): TestApi;
  /** Stops the API, does something, and starts another one. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** Declares the client of a box, with further fields of the head of the call; returns the last line of the answer. */
  declare(box: string, head?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  /** Asks for the move of a box; returns the answer. */
  move(box: string, database: string): Promise<unknown>;
  /** Asks for a token of the client. */
  token(box: string): Promise<Response>;
  /** Returns a token of the client; throws if it gets none. */
  issued(box: string): Promise<string>;
  /** Asks whether a token is active. */
  introspect(box: string, token: string): Promise<Response>;
  end(): Promise<void>;
}

const secret = 's'.repeat(32);

/** Starts an installation on two databases. */
export async function twoDatabases(): Promise<TwoDatabases> {
  const eu = await freshDatabase();
  const home = await homeOf(eu);
  const environment = { BOXGATE_DATABASES: 'home,eu', BOXGATE_DATABASE_URL_EU: eu.apiUrl };
  let api = await startApi({ database: home, environment });

  async function manage(path: string, lines: readonly object[]): Promise<string> {
    const response = await fetch(`${api.managementUrl}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.managementKey}` },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    });
    return response.text();
  }

  const epoch = (): Promise<number> => claimEpoch(api.managementUrl, api.managementKey, 'test');
  const asked = (box: string, path: string, parameters: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${api.url}/boxes/${box}/auth/${path}`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`app:${secret}`)}` },
      body: new URLSearchParams(parameters),
    });
  const token = (box: string): Promise<Response> => asked(box, 'token', { grant_type: 'client_credentials' });

  return {
    home,
    eu,
    api: () => api,
    async restart(meanwhile) {
      await api.stop();
      await meanwhile();
      api = await startApi({ database: home, environment });
    },
    async declare(box, head = {}) {
      const owner = { name: `${box}/app`, uid: 'u' };
      const resource = { resourceType: 'Client', id: 'app', grant_types: ['client_credentials'], secret };
      const lines = [
        { cluster: 'test', epoch: await epoch(), complete: false, ...head },
        { kind: 'Client', id: 'app', owner, digest: 'd', resource },
      ];
      return objectIn((await manage(`/boxes/${box}/apply`, lines)).trim().split('\n').at(-1) ?? '');
    },
    async move(box, database) {
      return objectIn(await manage(`/boxes/${box}/move`, [{ cluster: 'test', epoch: await epoch(), database }]));
    },
    token,
    async issued(box) {
      const response = await token(box);
      const { access_token: text } = objectIn(await response.text());
      if (typeof text !== 'string') throw new Error(`no token: ${String(response.status)}`);
      return text;
    },
    introspect: (box, text) => asked(box, 'introspect', { token: text }),
    async end() {
      await api.stop();
      await eu.drop();
    },
  };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
