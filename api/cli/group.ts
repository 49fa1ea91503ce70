import { isList, isObject, type JsonObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import type { BoxClient } from './box-client.ts';
import { usageError } from './cli-error.ts';
import type { Command } from './command.ts';
import { cell, COLUMNS } from '../schemas/columns.ts';
import { listAll, given } from './pages.ts';
import { missing } from './resource.ts';

const description = { type: 'string', value: '<text>', summary: 'what the group is' } as const;

const list: Command = {
  name: 'group list',
  summary: 'lists the groups of the box',
  examples: ['boxctl group list', 'boxctl group list --output json'],
  arguments: [0, 0],
  async run({ terminal, box, print }) {
    await print(await listAll(await box(), { path: '/Group' }, terminal), 'table', COLUMNS.Group);
  },
};

const show: Command = {
  name: 'group show',
  synopsis: '<id or name>',
  summary: 'prints one group; `boxctl user list --group-id` prints its members',
  examples: ['boxctl group show staff'],
  arguments: [1, 1],
  async run({ args: [which = ''], box, print }) {
    await print(await findGroup(await box(), which), 'yaml', COLUMNS.Group);
  },
};

const create: Command = {
  name: 'group new',
  synopsis: '<name> [--description <text>]',
  summary: 'creates a group',
  examples: ["boxctl group new staff --description 'People who work here'"],
  options: { description },
  arguments: [1, 1],
  async run({ args: [name = ''], values, box, confirm }) {
    const client = await box();
    const { body } = await client.request('POST', '/Group', { body: { ...given(values, ['description']), name } });
    await confirm(`Created group ${groupName({ ...body })} in the box ${client.box}.`, body, COLUMNS.Group);
  },
};

const set: Command = {
  name: 'group set',
  synopsis: '<id or name> [--name <name>] [--description <text>]',
  summary: 'changes the name or the description of a group',
  examples: ['boxctl group set staff --name employees'],
  options: { name: { type: 'string', value: '<name>', summary: 'another name' }, description },
  arguments: [1, 1],
  async run({ args: [which = ''], values, box, confirm }) {
    const change = given(values, ['name', 'description']);
    if (Object.keys(change).length === 0) throw usageError('nothing to change: give --name or --description');
    const client = await box();
    const { id } = await findGroup(client, which);
    const type = 'application/merge-patch+json';
    const { body } = await client.request('PATCH', `/Group/${cell(id)}`, { body: change, type });
    await confirm(
      `Changed group ${groupName(isObject(body) ? body : {})} in the box ${client.box}.`,
      body,
      COLUMNS.Group,
    );
  },
};

const remove: Command = {
  name: 'group delete',
  synopsis: '<id or name>',
  summary: 'deletes a group, without asking again; its members stay users',
  examples: ['boxctl group delete staff'],
  hasNoRecord: true,
  arguments: [1, 1],
  async run({ args: [which = ''], terminal, box }) {
    const client = await box();
    const group = await findGroup(client, which);
    await client.request('DELETE', `/Group/${cell(group['id'])}`);
    terminal.output.write(`Deleted group ${groupName(group)} in the box ${client.box}.\n`);
  },
};

/** `boxctl group list`, `show`, `new`, `set` and `delete`. */
export const groupCommands: readonly Command[] = [list, show, create, set, remove];

/** Returns the group with an ID or a name, which is never only digits. Throws CliError if there is none. */
async function findGroup(client: BoxClient, which: string): Promise<JsonObject> {
  const path = /^\d+$/.test(which)
    ? `/Group/${which}`
    : `/Group?${new URLSearchParams({ name: which, _result: 'array' }).toString()}`;
  const { status, body } = await client.request('GET', path, { expected: 404 });
  const group: unknown = isList(body) ? body[0] : body;
  if (status !== 404 && isObject(group)) return group;
  throw missing(client, 'group', which);
}

function groupName({ id, name }: JsonObject): string {
  return plainText(`${cell(name)} (id ${cell(id)})`);
}
