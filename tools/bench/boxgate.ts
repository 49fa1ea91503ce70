import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import type { Client } from '../../crds/client.ts';
import { declare, type Declared, type ManagementPort } from './declare.ts';
import type { Credentials } from './load/requests.ts';
import { makeDatabase } from './machine/database.ts';
import type { BenchPostgres } from './machine/postgres.ts';
import { startServer, type ServerProcess } from './machine/server-process.ts';

/** A Boxgate under measurement: `boxgate api` in the configuration that ships, with one box. */
export interface Boxgate extends ServerProcess {
  readonly database: string;
  readonly box: string;
  readonly clients: BenchClients;
  /** The path of a box endpoint, `/auth/token` for one. */
  path(endpoint: string): string;
  /** Declares more. */
  add(resources: readonly Declared[]): Promise<void>;
  /** Issues this many tokens. */
  issue(client: Credentials, count: number): Promise<string[]>;
}

/** The clients of the box: what their names say. */
export interface BenchClients {
  readonly opaque: Credentials;
  readonly jwt: Credentials;
  /** A policy lets it read sessions. */
  readonly reader: Credentials;
}

const box = 'bench';
const program = fileURLToPath(new URL('../../api/main.ts', import.meta.url));

/** Migrates a new database, starts the API on it and declares the clients. */
export async function startBoxgate(
  postgres: BenchPostgres,
  name: string,
  settings: Record<string, string>,
): Promise<Boxgate> {
  const database = `boxgate_${name}`;
  const urls = await makeDatabase(postgres, database);
  const server = await startApi({ BOXGATE_DATABASE_URL: urls.BOXGATE_DATABASE_URL, ...settings });
  const clients = {
    opaque: { id: 'bench-opaque', secret: generateClientSecret() },
    jwt: { id: 'bench-jwt', secret: generateClientSecret() },
    reader: { id: 'bench-reader', secret: generateClientSecret() },
  };
  await declare(server.management, box, resources(clients));
  const path = (endpoint: string): string => `/boxes/${box}${endpoint}`;
  const base = `http://127.0.0.1:${server.port}`;
  return {
    ...server,
    database,
    box,
    clients,
    path,
    add: (more) => declare(server.management, box, more, { complete: false }),
    issue: (client, count) => issueTokens(base + path('/auth/token'), client, count),
  };
}

/** Starts `boxgate api` in the configuration that ships, on the databases that the settings name. */
export async function startApi(
  settings: Readonly<Record<string, string>>,
): Promise<ServerProcess & { readonly management: ManagementPort }> {
  const key = randomBytes(32).toString('hex');
  const server = await startServer([program, 'api'], {
    NODE_ENV: 'production',
    BOXGATE_HOST: '127.0.0.1',
    BOXGATE_PORT: '0',
    BOXGATE_MANAGEMENT_PORT: '0',
    BOXGATE_MANAGEMENT_KEYS: key,
    BOXGATE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BOXGATE_PUBLIC_URL: 'http://127.0.0.1',
    BOXGATE_LINGER_SECONDS: '0',
    ...settings,
  });
  return { ...server, management: { port: Number(server.listening['management_port']), key } };
}

function resources(clients: BenchClients): Declared[] {
  const client = (
    { id, secret }: Credentials,
    settings: NonNullable<Client['auth']>['client_credentials'] = {},
  ): Declared => ({
    kind: 'Client',
    id,
    resource: {
      resourceType: 'Client',
      id,
      secret,
      grant_types: ['client_credentials'],
      auth: { client_credentials: settings },
    },
  });
  return [
    client(clients.opaque),
    client(clients.jwt, { token_format: 'jwt', access_token_expiration: 3600 }),
    client(clients.reader),
    {
      kind: 'AccessPolicy',
      id: 'bench-reader',
      resource: {
        resourceType: 'AccessPolicy',
        id: 'bench-reader',
        engine: 'allow',
        link: [{ resourceType: 'Client', id: clients.reader.id }],
      },
    },
  ];
}

/** So many requests for tokens are under way at once. */
const atOnce = 32;

async function issueTokens(url: string, client: Credentials, count: number): Promise<string[]> {
  const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const tokens: string[] = [];
  const issueSome = async (): Promise<void> => {
    while (tokens.length < count) {
      const response = await fetch(url, { method: 'POST', headers: { authorization }, body });
      const answer: unknown = await response.json();
      if (typeof answer !== 'object' || answer === null || !('access_token' in answer)) {
        throw new Error(`no token: ${response.status} ${JSON.stringify(answer)}`);
      }
      tokens.push(String(answer.access_token));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, issueSome));
  return tokens.slice(0, count);
}
