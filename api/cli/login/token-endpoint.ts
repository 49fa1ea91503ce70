import { isObject } from '../../../crds/json-value.ts';
import { plainText } from '../../../process/plain-text.ts';
import { read, refusal, send } from '../box-client.ts';
import type { KeptLogin } from '../state-file.ts';

/** Parameters of a token request. */
export interface TokenFields extends Readonly<Record<string, string>> {
  readonly grant_type: string;
  readonly client_id: string;
}

/** A refused token request: the grant is not valid, or no longer (RFC 6749 §5.2, `invalid_grant`). */
export const INVALID_GRANT = 'invalid-grant';

/** Requests tokens of a box (RFC 6749 §4.1.3, §4.4.2, §6). Throws CliError unless the grant is accepted or invalid. */
export async function requestTokens(base: string, fields: TokenFields): Promise<KeptLogin | typeof INVALID_GRANT> {
  const sent = Date.now();
  const response = await send(`${base}/auth/token`, { method: 'POST', body: new URLSearchParams(fields) });
  const { body } = await read(response, base);
  const answer = isObject(body) ? body : {};
  const { access_token, expires_in, refresh_token, error } = answer;
  if (response.status === 400 && error === 'invalid_grant') return INVALID_GRANT;
  if (!response.ok || typeof access_token !== 'string')
    throw refusal(`the token request of client ${plainText(fields.client_id)}`, response, body);
  return {
    client: fields.client_id,
    access_token,
    ...(typeof expires_in === 'number' ? { expires_at: sent + expires_in * 1000 } : {}),
    ...(typeof refresh_token === 'string' ? { refresh_token } : {}),
  };
}
