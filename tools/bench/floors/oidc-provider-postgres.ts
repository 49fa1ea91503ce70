// node-oidc-provider for the code flow as a careful user would set it up: Postgres behind it, nothing on that is not
// used.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import pg from 'pg';
import { announce, floorSettings } from './floor.ts';
import { createModelTables, postgresAdapter } from './oidc-provider-adapter.ts';

const settings = floorSettings();
// The product has two pools of this size, and a flow uses both.
const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: 2 * settings.pool });
await createModelTables(pool);
await pool.query('create table account (id text primary key, email text not null)');

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const provider = new Provider('http://127.0.0.1', {
  adapter: postgresAdapter(pool),
  findAccount,
  clients: [
    {
      client_id: 'bench',
      client_secret: 'bench-secret',
      grant_types: ['authorization_code'],
      redirect_uris: ['https://app.example/back'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'ES256',
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
  features: {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: { enabled: false },
    rpInitiatedLogout: { enabled: false },
  },
  interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/signin/${uid}` },
  routes: { authorization: '/auth/authorize', token: '/auth/token', userinfo: '/auth/userinfo' },
  ttl: { AccessToken: 3600, AuthorizationCode: 60, Grant: 86_400, IdToken: 3600, Interaction: 600, Session: 86_400 },
  cookies: { keys: ['bench'] },
});

const serve = provider.callback();
const server = createServer((request, response) => {
  if (request.url?.startsWith('/signin/')) void signIn(request, response);
  else serve(request, response);
});
announce(server.listen(0, '127.0.0.1'));

/** Whoever is gone gets nothing more, as with the product. */
async function findAccount(_context: unknown, accountId: string) {
  const text = 'select id from account where id = $1';
  const { rows } = await pool.query<{ id: string }>({ name: 'account', text, values: [accountId] });
  return rows.length === 0 ? undefined : { accountId, claims: () => ({ sub: accountId }) };
}

/** Signs in whom the request hints at and gives their consent: before anything is measured. */
async function signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const accountId = String(params['login_hint']);
  const grant = new provider.Grant({ accountId, clientId: String(params['client_id']) });
  grant.addOIDCScope('openid');
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, { login: { accountId }, consent: { grantId } });
}
