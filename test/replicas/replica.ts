import { createManagement } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { openConnection } from '../support/connection.ts';
import type { Connection, Reply } from '../support/connection.ts';

/** A client as the rounds use it. */
export interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** One API process, seen over connections that are kept open. */
export interface Replica {
  readonly name: string;
  readonly manage: Pick<TestApi, 'declare' | 'remove'>;
  /** A caller on a connection of its own, open already. */
  caller(nth: number): Caller;
  stop(): Promise<void>;
}

/** The redirect URI of every client. */
export const redirectUri = 'https://app.example.com/back';

const callers = 6;

/** Starts a replica on a database; what it declares belongs to a cluster of its name. */
export async function startReplica(
  name: string,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const api = await startApiProcess(databaseUrl, {
    BOXGATE_FAILURES_PER_CLIENT: '1000000',
    BOXGATE_FAILURES_PER_BOX: '1000000',
    ...environment,
  });
  const open = await openCallers(api);
  return {
    name,
    manage: createManagement(api.managementUrl, api.managementKey, name),
    caller(nth) {
      const caller = open[nth % callers];
      if (caller === undefined) throw new Error('no such caller');
      return caller;
    },
    async stop() {
      for (const caller of open) caller.close();
      await api.end('SIGTERM');
    },
  };
}

async function openCallers(api: ApiProcess): Promise<readonly Caller[]> {
  const open = Array.from({ length: callers }, () => new Caller(openConnection(api.url)));
  await Promise.all(open.map((caller) => caller.inBox('nobody').introspect({ id: 'a', secret: 'b' }, 'c')));
  return open;
}

/** Sends requests over one open connection. */
export class Caller {
  readonly #connection: Connection;
  readonly #base: string;

  constructor(connection: Connection, base = '') {
    this.#connection = connection;
    this.#base = base;
  }

  /** The same connection, in a box. */
  inBox(box: string): Caller {
    return new Caller(this.#connection, `/boxes/${box}`);
  }

  issue(client: Credentials): Promise<Reply> {
    return this.#form('/auth/token', client, { grant_type: 'client_credentials' });
  }

  refresh(client: Credentials, token: string): Promise<Reply> {
    return this.#form('/auth/token', client, { grant_type: 'refresh_token', refresh_token: token });
  }

  /** Redeems a code that was issued for {@link redirectUri}. */
  redeem(client: Credentials, code: string): Promise<Reply> {
    return this.#form('/auth/token', client, { grant_type: 'authorization_code', code, redirect_uri: redirectUri });
  }

  introspect(client: Credentials, token: string): Promise<Reply> {
    return this.#form('/auth/introspect', client, { token });
  }

  revoke(client: Credentials, token: string): Promise<Reply> {
    return this.#form('/auth/revoke', client, { token });
  }

  get(path: string, token: string): Promise<Reply> {
    return this.#withToken('GET', path, token);
  }

  delete(path: string, token: string): Promise<Reply> {
    return this.#withToken('DELETE', path, token);
  }

  put(path: string, token: string, body: object): Promise<Reply> {
    return this.#withToken('PUT', path, token, body);
  }

  post(path: string, token: string, body: object): Promise<Reply> {
    return this.#withToken('POST', path, token, body);
  }

  close(): void {
    this.#connection.close();
  }

  #form(path: string, { id, secret }: Credentials, fields: Record<string, string>): Promise<Reply> {
    const headers = { Authorization: `Basic ${btoa(`${id}:${secret}`)}` };
    const body = new URLSearchParams(fields);
    return this.#connection.send({ method: 'POST', path: this.#base + path, headers, body });
  }

  #withToken(method: string, path: string, token: string, body?: object): Promise<Reply> {
    const headers = { Authorization: `Bearer ${token}` };
    return this.#connection.send({ method, path: this.#base + path, headers, body });
  }
}
