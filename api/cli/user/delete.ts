import { plainText } from '../../../process/plain-text.ts';
import type { Command } from '../command.ts';
import { findUser, userName } from './user.ts';

/** `boxctl user delete`. */
export const deleteUser: Command = {
  name: 'user delete',
  synopsis: '<id or email>',
  summary: 'deletes a user and ends the sessions of the user, without asking again',
  examples: ['boxctl user delete ann@example.com'],
  hasNoRecord: true,
  arguments: [1, 1],
  async run({ args: [who = ''], terminal, box }) {
    const client = await box();
    const user = await findUser(client, who);
    await client.request('DELETE', `/users/${String(user.id)}`);
    terminal.output.write(`Deleted user ${plainText(userName(user))} in the box ${client.box}.\n`);
  },
};
