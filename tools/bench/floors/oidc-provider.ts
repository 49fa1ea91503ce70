// node-oidc-provider as a user would set it up for client credentials: the memory adapter, opaque tokens.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { announce } from './announce.ts';

const provider = new Provider('http://127.0.0.1', {
  clients: [
    {
      client_id: 'bench',
      client_secret: 'bench-secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  routes: { token: '/auth/token' },
  ttl: { ClientCredentials: 3600 },
  cookies: { keys: ['bench'] },
});
announce(createServer(provider.callback()).listen(0, '127.0.0.1'));
