import { plainText } from '../../../process/plain-text.ts';
import { askOrReadSecret } from '../ask.ts';
import { usageError } from '../cli-error.ts';
import type { Command } from '../command.ts';
import { findUser, shownUser, USER_COLUMNS, userName } from './user.ts';

/** `boxctl user set`: changes the fields that are given. */
export const setUser: Command = {
  name: 'user set',
  synopsis: '<id or email> [--email <email>] [--data <JSON>] [--password]',
  summary: 'changes fields of a user; a new password ends the sessions of the user',
  examples: [
    'boxctl user set 7 --data \'{"team": "blue"}\'',
    'boxctl user set ann@example.com --password',
    'boxctl user set 7 --password < new-password.txt',
  ],
  options: {
    email: { type: 'string', value: '<email>', summary: 'another email' },
    data: { type: 'string', value: '<JSON>', summary: 'any JSON; null removes it' },
    password: { type: 'boolean', summary: 'asks for a new password, or reads it as a line of standard input' },
  },
  arguments: [1, 1],
  async run(invocation) {
    const { args, values, terminal } = invocation;
    const { email, data } = values;
    if (email === undefined && data === undefined && values['password'] !== true)
      throw usageError('nothing to change: give --email, --data or --password');
    const client = await invocation.box();
    const user = await findUser(client, args[0] ?? '');
    const body = {
      ...(email === undefined ? {} : { email }),
      ...(data === undefined ? {} : { data: data === 'null' ? null : data }),
      ...(values['password'] === true ? { password: await askOrReadSecret(terminal, 'New password: ') } : {}),
    };
    const { body: changed } = await client.request('PUT', `/users/${String(user.id)}`, { body });
    const name = userName(changed);
    const sentence = `Changed user ${plainText(name)} in the box ${client.box}.`;
    await invocation.confirm(sentence, shownUser(changed), USER_COLUMNS);
  },
};
