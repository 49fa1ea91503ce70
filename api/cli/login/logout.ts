import type { Command } from '../command.ts';
import { withLogin } from './kept-login.ts';
import { revokeLogin } from './revoke-login.ts';

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
