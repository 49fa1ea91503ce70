import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { startApi } from '../support/api.ts';
import type { TestApi } from '../support/api.ts';
import { basic, sendForm } from './requests.ts';
import type { Fields, Reply } from './requests.ts';

/** The secret of every client of {@link startTokenApi} but `reporting` and `public`. */
export const secret = generateClientSecret();

/** The secret of `reporting`, with everything that an encoding may trip over. */
export const chosenSecret = 'a chosen: secret with 100% +';

/** An API with one client for each way to configure client credentials. */
export interface TokenApi extends TestApi {
  /** Token URL of the box `default`. */
  readonly tokenUrl: string;
  /** A form to the token endpoint, from `plain` unless told otherwise. */
  form(fields: Fields, authorization?: string): Promise<Reply>;
  /** Returns the introspection of a token. */
  introspect(token: string): Promise<Reply['body']>;
}

/** Starts it. Its throttle is open: the inputs of the tests fail on purpose, from one address. */
export async function startTokenApi(): Promise<TokenApi> {
  const environment = { BOXGATE_FAILURES_PER_CLIENT: '100000', BOXGATE_FAILURES_PER_BOX: '100000' };
  const api = await startApi({ environment });
  const client = { kind: 'Client', grant_types: ['client_credentials'], secret } as const;
  const settings = (client_credentials: object) => ({ auth: { client_credentials } });
  await api.declare('default', [
    { ...client, id: 'plain' },
    { ...client, id: 'reporting', secret: chosenSecret },
    { ...client, id: 'expiring', ...settings({ access_token_expiration: 60 }) },
    { ...client, id: 'refreshing', ...settings({ refresh_token: true }) },
    { ...client, id: 'scoped', scope: ['read', 'write'] },
    { ...client, id: 'bound', ...settings({ audience: ['https://a.example', 'https://b.example'] }) },
    { ...client, id: 'jwt', ...settings({ token_format: 'jwt' }) },
    { ...client, id: 'jwt-brief', ...settings({ token_format: 'jwt', access_token_expiration: 90 }) },
    { ...client, id: 'off', active: false },
    {
      ...client,
      id: 'browser',
      grant_types: ['authorization_code', 'password', 'urn:ietf:params:oauth:grant-type:token-exchange'],
      auth: { authorization_code: { redirect_uri: 'https://app.example/back' } },
    },
    { kind: 'Client', id: 'public', grant_types: ['client_credentials'] },
  ]);
  const tokenUrl = `${api.url}/boxes/default/auth/token`;
  return {
    ...api,
    tokenUrl,
    form: (fields, authorization = basic('plain', secret)) => sendForm(tokenUrl, fields, authorization),
    async introspect(token) {
      const url = `${api.url}/boxes/default/auth/introspect`;
      return (await sendForm(url, { token }, basic('plain', secret))).body;
    },
  };
}
