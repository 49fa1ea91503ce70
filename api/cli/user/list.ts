import type { ListedUser } from '../../schemas/user.ts';
import type { BoxAnswer } from '../box-client.ts';
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
    const users: ListedUser[] = [];
    let path: `/users?${string}` | undefined = `/users?${query.toString()}`;
    while (path !== undefined) {
      const answer: BoxAnswer<readonly ListedUser[]> = await client.request('GET', path);
      users.push(...answer.body);
      path = nextQuery(answer.next);
      if (terminal.messages.isTTY === true && path !== undefined)
        terminal.messages.write(`\r${users.length.toLocaleString('en-US')} users so far`);
    }
    if (terminal.messages.isTTY === true && users.length > 1000) terminal.messages.write('\r\x1b[K');
    await print(users, 'json', USER_COLUMNS);
  },
};

/** Returns the path of the next page, which is one of users too. */
function nextQuery(next: string | undefined): `/users?${string}` | undefined {
  const [, query] = /^\/users\?(.*)$/s.exec(next ?? '') ?? [];
  return query === undefined ? undefined : `/users?${query}`;
}
