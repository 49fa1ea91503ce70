import { isList } from '../../../crds/json-value.ts';
import { plainText } from '../../../process/plain-text.ts';
import type { UserView } from '../../schemas/user.ts';
import { noBoxAnswer, type BoxClient } from '../box-client.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Command } from '../command.ts';
import type { OptionValues } from '../option-values.ts';
import { column } from '../resource/texts.ts';
import { findUser, userName } from './user.ts';

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

async function change(
  client: BoxClient,
  user: UserView,
  { added, removed }: { readonly added: readonly number[]; readonly removed: readonly number[] },
): Promise<UserView> {
  const ids = [...new Set([...user['group-ids'], ...added])].filter((id) => !removed.includes(id));
  return (await client.request('PUT', `/users/${String(user.id)}`, { body: { 'group-ids': ids } })).body;
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
