import type { Command } from '../command.ts';
import { USER_COLUMNS, findUser, shownUser } from './user.ts';

/** `boxctl user show`. */
export const showUser: Command = {
  name: 'user show',
  synopsis: '<id or email>',
  summary: 'prints one user, without the hash of the password',
  examples: ['boxctl user show ann@example.com', 'boxctl user show 7 --output yaml'],
  arguments: [1, 1],
  async run({ args: [who = ''], box, print }) {
    await print(shownUser(await findUser(await box(), who)), 'json', USER_COLUMNS);
  },
};
