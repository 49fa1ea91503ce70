import type { Command } from '../command.ts';

/** `boxctl token`. */
export const token: Command = {
  name: 'token',
  summary: 'prints an access token of the box, of your sign-in or of the client that is set',
  examples: ['curl -H "Authorization: Bearer $(boxctl token)" "$BOXCTL_SERVER/boxes/shop/users"'],
  keepsToken: true,
  hasNoRecord: true,
  arguments: [0, 0],
  async run({ box, terminal }) {
    const { token: text } = await box();
    terminal.output.write(`${text}\n`);
  },
};
