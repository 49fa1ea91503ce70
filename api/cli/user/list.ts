import { isList } from '../../../crds/json-value.ts';
import type { Command } from '../command.ts';
import { USER_COLUMNS } from './user.ts';

/** `boxctl user list`: follows the pages to the end, with a line of progress on a terminal. */
export const listUsers: Command = {
  name: 'user list',
  summary: 'prints the users of the box, as raw JSON unless --output says otherwise',
  examples: ['boxctl user list', 'boxctl user list --q ann --output table', 'boxctl user list --status inactive'],
  options: {
    q: { type: 'string', value: '<text>', summary: 'only those whose email begins so' },
    status: { type: 'string', value: 'active|inactive', summary: 'only those with this status' },
    'group-id': { type: 'string', value: '<id>', summary: 'only the members of this group' },
  },
  arguments: [0, 0],
  async run({ values, terminal, box, print }) {
    const client = await box();
    const query = new URLSearchParams({ _count: '1000', _total: 'none' });
    for (const name of ['q', 'status', 'group-id']) {
      const value = values[name];
      if (typeof value === 'string') query.set(name, value);
    }
    const users: unknown[] = [];
    let path: string | undefined = `/users?${query.toString()}`;
    while (path !== undefined) {
      const { body, next } = await client.request('GET', path);
      if (isList(body)) users.push(...body);
      path = next;
      if (terminal.messages.isTTY === true && path !== undefined)
        terminal.messages.write(`\r${users.length.toLocaleString('en-US')} users so far`);
    }
    if (terminal.messages.isTTY === true && users.length > 1000) terminal.messages.write('\r\x1b[K');
    await print(users, 'json', USER_COLUMNS);
  },
};
