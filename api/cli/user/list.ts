import type { Command } from '../command.ts';
import { given } from '../resource/list-options.ts';
import { pagesOf } from '../resource/pages.ts';
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
    const filters = given(values, ['q', 'status', 'group-id']);
    const query = new URLSearchParams({ _count: '1000', _total: 'none', ...filters });
    const users: unknown[] = [];
    for await (const page of pagesOf(client, { path: `/users?${query.toString()}`, noun: 'users' }, terminal))
      for (const user of page) users.push(user);
    await print(users, 'json', USER_COLUMNS);
  },
};
