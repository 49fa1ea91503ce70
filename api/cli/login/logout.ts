import { createBoxClient, read, refusal, requireBox, send } from '../box-client.ts';
import type { Command } from '../command.ts';
import type { BoxAddress } from '../current-box.ts';
import type { KeptLogin } from '../state-file.ts';
import { withLogin } from './kept-login.ts';

/** `boxctl logout`. */
export const logout: Command = {
  name: 'logout',
  summary: 'ends the sign-in to the box: its tokens are revoked, and forgotten',
  examples: ['boxctl logout', 'boxctl logout --box shop'],
  hasNoRecord: true,
  arguments: [0, 0],
  async run({ address, state, terminal }) {
    const found = await address();
    const ended = await state.update(async (kept) => {
      const login = kept.logins?.[found.base];
      if (login === undefined) return { change: {}, result: false };
      await revoke(found, login);
      return { change: withLogin(kept, found.base, undefined), result: true };
    });
    terminal.output.write(
      ended ? `Signed out of the box ${found.box}.\n` : `You are not signed in to the box ${found.box}.\n`,
    );
  },
};

/** Revokes the tokens of a sign-in (RFC 7009 §2.1). Throws CliError if the box does not confirm it. */
async function revoke({ box, base }: BoxAddress, { client, access_token, refresh_token }: KeptLogin): Promise<void> {
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
