import { createBoxClient, read, refusal, requireBox, send } from '../box-client.ts';
import type { BoxAddress } from '../current-box.ts';
import type { KeptLogin } from '../state-file.ts';

/** Revokes the tokens of a sign-in (RFC 7009 §2.1). Throws CliError if the box does not confirm it. */
export async function revokeLogin(
  { box, base }: Pick<BoxAddress, 'box' | 'base'>,
  { client, access_token, refresh_token }: KeptLogin,
): Promise<void> {
  if (refresh_token === undefined) {
    // A token that is not valid any more (401) needs no end.
    await createBoxClient(box, base, access_token).request('DELETE', '/Session', { expected: 401 });
    return;
  }
  const fields = { token: refresh_token, token_type_hint: 'refresh_token', client_id: client };
  const response = await send(`${base}/auth/revoke`, { method: 'POST', body: new URLSearchParams(fields) });
  const { body } = await read(response, base);
  if (response.ok) return;
  if (response.status === 404) await requireBox(base);
  throw refusal('the revocation', response, body);
}
