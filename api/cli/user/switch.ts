import { plainText } from '../../../process/plain-text.ts';
import type { Command } from '../command.ts';
import { findUser, shownUser, USER_COLUMNS, userName } from './user.ts';

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
    async run({ args: [who = ''], box, confirm }) {
      const client = await box();
      const user = await findUser(client, who);
      const { body } = await client.request('PUT', `/users/${String(user.id)}`, { body: { status } });
      const sentence = `User ${plainText(userName(user))} in the box ${client.box} is ${status}.`;
      await confirm(sentence, shownUser(body), USER_COLUMNS);
    },
  };
}
