import { isList } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import type { UserView } from '../schemas/user.ts';
import { noBoxAnswer, type BoxClient } from './box-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import type { Command } from './command.ts';
import type { OptionValues } from './option-values.ts';
import { missing } from './resource.ts';
import { column } from '../schemas/columns.ts';
import { findUser, userName } from './user.ts';

/** Attempts at a change, while others change the same user. */
const ATTEMPTS = 5;

/** `boxctl user groups`: shows the groups of a user, after the changes that the options name. */
export const userGroups: Command = {
  name: 'user groups',
  synopsis: '<id or email> [--add <group>]... [--remove <group>]...',
  summary: 'prints the groups of a user, a name on each line, after adding and removing some',
  examples: ['boxctl user groups ann@example.com', 'boxctl user groups 7 --add staff --add on-call --remove guests'],
  options: {
    add: { type: 'string', multiple: true, value: '<group>', summary: 'name or id of a group to join' },
    remove: { type: 'string', multiple: true, value: '<group>', summary: 'name or id of a group to leave' },
  },
  arguments: [1, 1],
  async run({ args: [who = ''], values, terminal, box, print }) {
    const client = await box();
    const user = await findUser(client, who);
    const added = await groupIds(client, values['add']);
    const removed = await groupIds(client, values['remove']);
    const changed = added.length + removed.length === 0 ? user : await change(client, user, { added, removed });
    const groups = changed.groups ?? [];
    if (values['output'] !== undefined) {
      await print(groups, 'json', [column('ID', 'id'), column('NAME', 'name')]);
      return;
    }
    const names = groups.map(({ name }) => name);
    if (names.length === 0) terminal.messages.write(`${plainText(userName(user))} is in no group\n`);
    terminal.output.write(names.map((name) => `${plainText(name)}\n`).join(''));
  },
};

/**
 * Changes the groups of a user, of which a request has the whole list: another change between reading and writing it
 * makes the command read again. Throws CliError.
 */
async function change(
  client: BoxClient,
  user: Pick<UserView, 'id' | 'email'>,
  { added, removed }: { readonly added: readonly number[]; readonly removed: readonly number[] },
): Promise<UserView> {
  const path = `/users/${String(user.id)}` as const;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { body: present, etag } = await client.request('GET', path, { expected: 404 });
    if (present === undefined) throw missing(client, 'user', String(user.id));
    const ids = [...new Set([...present['group-ids'], ...added])].filter((id) => !removed.includes(id));
    const body = { 'group-ids': ids };
    const { body: changed } = await client.request('PUT', path, { body, ifMatch: etag, expected: 412 });
    if (changed !== undefined) return changed;
  }
  throw new CliError(
    EXIT.refused,
    `${plainText(userName(user))} was changed by others at the same time, ${String(ATTEMPTS)} times: run the command again`,
  );
}

/** Returns the ids of groups that are named by name or id. Throws CliError for one that the box does not have. */
async function groupIds(client: BoxClient, given: OptionValues[string]): Promise<readonly number[]> {
  const names = Array.isArray(given) ? given.map(String) : [];
  return Promise.all(
    names.map(async (name) => {
      if (/^\d+$/.test(name)) return Number(name);
      const query = new URLSearchParams({ name }).toString();
      const { body } = await client.request('GET', `/Group?_result=array&${query}`);
      if (!isList(body)) throw noBoxAnswer(client.base);
      const [group] = body;
      if (group !== undefined) return group.id;
      throw new CliError(EXIT.refused, `there is no group ${JSON.stringify(name)} in the box ${client.box}`);
    }),
  );
}
