import { askOrReadSecret } from './terminal.ts';
import { CliError, EXIT } from './cli-error.ts';
import type { Command, Invocation } from './command.ts';
import type { BoxAddress } from './current-box.ts';
import type { KeptLogin } from './state-file.ts';
import { withLogin, INVALID_GRANT, requestTokens } from './kept-login.ts';
import { openBrowser, signInWithBrowser } from './browser-sign-in.ts';
import { createBoxClient, read, refusal, requireBox, send } from './box-client.ts';

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
      await revokeLogin(found, login);
      return { change: withLogin(kept, found.base, undefined), result: true };
    });
    terminal.output.write(
      ended ? `Signed out of the box ${found.box}.\n` : `You are not signed in to the box ${found.box}.\n`,
    );
  },
};

/** `boxctl login`. */
export const login: Command = {
  name: 'login',
  synopsis: '[--client <id>] [--no-browser]',
  summary: 'signs you in to a box with your browser, or a client with its secret; later commands use it',
  examples: [
    'boxctl login --server https://auth.example.com --box shop',
    'boxctl login --no-browser',
    'boxctl login --client ci < secret.txt',
  ],
  options: {
    client: { type: 'string', value: '<id>', summary: 'signs this client in; its secret is a line of standard input' },
    'no-browser': { type: 'boolean', summary: 'prints the address and opens no browser' },
  },
  hasNoRecord: true,
  arguments: [0, 0],
  async run(invocation) {
    const { values, state, terminal } = invocation;
    const address = await invocation.address();
    const client = values['client'];
    const tokens =
      typeof client === 'string'
        ? await signInClient(invocation, address, client)
        : await signInPerson(invocation, address);
    const { box, server, base, installation } = address;
    const isNamed = installation !== undefined;
    const chosen = { box, server: installation, base: isNamed ? undefined : base };
    const kept = isNamed ? tokens : { ...tokens, box };
    const replaced = await state.update((before) =>
      Promise.resolve({ change: { ...withLogin(before, base, kept), ...chosen }, result: before.logins?.[base] }),
    );
    await endReplaced(address, replaced);
    terminal.output.write(`Signed in to the box ${box} at ${server}.\n`);
  },
};

/**
 * Ends the sign-in that another one has replaced: nothing here knows its refresh token any more. The new one is kept
 * already, and is not lost if that fails.
 */
async function endReplaced(address: BoxAddress, replaced: KeptLogin | undefined): Promise<void> {
  if (replaced?.refresh_token === undefined) return;
  await revokeLogin(address, replaced).catch(() => undefined);
}

function signInPerson({ values, terminal, environment }: Invocation, address: BoxAddress): Promise<KeptLogin> {
  return signInWithBrowser(address, (page) => {
    terminal.messages.write(`Sign in with a browser on this machine:\n\n  ${page}\n\n`);
    if (values['no-browser'] !== true) openBrowser(page, environment);
  });
}

/** Signs a client in. Its secret is not kept: the sign-in ends with the token, or with its refresh token. */
async function signInClient({ terminal }: Invocation, { base }: BoxAddress, client: string): Promise<KeptLogin> {
  const secret = await askOrReadSecret(terminal, 'Client secret: ');
  const fields = { grant_type: 'client_credentials', client_id: client, client_secret: secret };
  const tokens = await requestTokens(base, fields);
  if (tokens !== INVALID_GRANT) return tokens;
  throw new CliError(EXIT.refused, 'the box did not accept the client');
}

/** Revokes the tokens of a sign-in (RFC 7009 §2.1). Throws CliError if the box does not confirm it. */
async function revokeLogin(
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
