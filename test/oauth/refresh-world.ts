import { parseRefreshToken } from '../../api/credentials/refresh-token-text.ts';
import { generateClientSecret } from '../../api/credentials/client-secret.ts';
import { introspect } from '../../api/oauth/session/introspection.ts';
import type { OAuthServices } from '../../api/oauth/services.ts';
import { token } from '../../api/oauth/token/endpoint.ts';
import type { TokenResponse } from '../../api/schemas/oauth.ts';
import { basic } from './requests.ts';
import { formRequest, makeWorld, outcome } from './world.ts';
import type { World } from './world.ts';
import { NO_CHECKS } from './no-checks.ts';

/** The secret of every client of {@link makeRefreshWorld}. */
export const secret = generateClientSecret();

/** Differences of a use of a refresh token from the plainest one. */
export interface UseOver {
  readonly fields?: Record<string, string>;
  readonly services?: OAuthServices;
  readonly box?: string;
  readonly authorization?: string;
}

/** Result of a use: the new tokens, or the code of the error. */
export type Used = TokenResponse | string | undefined;

/** A world with clients that refresh in each way, and the steps of their tests. */
export interface RefreshWorld extends World {
  /** The first tokens of a client. */
  begin(id: string, fields?: Record<string, string>, box?: string): Promise<TokenResponse>;
  use(refreshToken: string | undefined, clientId: string, over?: UseOver): Promise<Used>;
  /** Checks whether introspection says that a token is active. */
  lives(text: string | undefined): Promise<boolean>;
}

/** Makes it: box `default` with three days of sliding at most, and the strict box `elsewhere`. */
export async function makeRefreshWorld(): Promise<RefreshWorld> {
  const world = await makeWorld();
  const client = (id: string, client_credentials: object, rest: object = {}) =>
    ({
      kind: 'Client',
      id,
      secret,
      grant_types: ['client_credentials'],
      auth: { client_credentials },
      ...rest,
    }) as const;
  const refreshed = { refresh_token: true, access_token_expiration: 300 };
  const clients = [
    client('sliding', { ...refreshed, refresh_token_expiration: 86_400 }, { scope: ['read', 'write'] }),
    client('rotating', { ...refreshed, refresh_rotation: true }),
    client('jwt', { ...refreshed, token_format: 'jwt' }),
    client('strict', { ...refreshed, refresh_requires_secret: true }),
    client('other', refreshed),
  ];
  const tokens = { max_refresh_lifetime: 3 * 86_400 };
  await world.declare('default', ...clients, { kind: 'Box', id: 'default', tokens });
  await world.declare('elsewhere', ...clients, { kind: 'Box', id: 'elsewhere', compatibility: { profile: 'strict' } });
  return {
    ...world,
    async begin(id, fields = {}, box = 'default') {
      const authorization = basic(id, secret);
      const request = formRequest({ grant_type: 'client_credentials', ...fields }, { box, authorization });
      const response = await token(request, world.services, NO_CHECKS);
      if (response === undefined) throw new Error('no such box');
      return response;
    },
    use(refreshToken, clientId, over = {}) {
      const named = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken ?? '' };
      return outcome(
        token(formRequest({ ...named, ...over.fields }, over), over.services ?? world.services, NO_CHECKS),
      );
    },
    async lives(text) {
      const request = formRequest({ token: text ?? '' }, { authorization: basic('other', secret) });
      return (await introspect(request, world.services, NO_CHECKS))?.active === true;
    },
  };
}

/** The tokens of a use that must have succeeded. */
export function succeeded(answer: Used): TokenResponse {
  if (typeof answer !== 'object') throw new Error(`refused: ${String(answer)}`);
  return answer;
}

/** The UUID of a refresh token's family. */
export function familyOf(refreshToken: string | undefined): string {
  const hex = parseRefreshToken(refreshToken ?? '')?.family ?? '';
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
