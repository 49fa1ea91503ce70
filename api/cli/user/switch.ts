import { plainText } from '../../../process/plain-text.ts';
import type { Command } from '../command.ts';
import { findUser, userName } from './user.ts';

/** `boxctl user disable`. */
export const disableUser = switchTo(
  'disable',
  'inactive',
  'ends what a user has begun, and lets the user sign in no more',
);

/** `boxctl user enable`: what was ended stays ended. */
export const enableUser = switchTo('enable', 'active', 'lets a user sign in again, also one who waits for approval');

function switchTo(verb: 'disable' | 'enable', status: 'active' | 'inactive', summary: string): Command {
  return {
    name: `user ${verb}`,
    synopsis: '<id or email>',
    summary,
    examples: [`boxctl user ${verb} ann@example.com`],
    arguments: [1, 1],
    async run({ args: [who = ''], terminal, box }) {
      const client = await box();
      const user = await findUser(client, who);
      await client.request('PUT', `/users/${String(user.id)}`, { body: { status } });
      terminal.output.write(`User ${plainText(userName(user))} in the box ${client.box} is ${status}.\n`);
    },
  };
}
