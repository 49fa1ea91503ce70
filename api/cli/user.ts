import { isList } from '../../crds/path.ts';
import type { ListedUser, UserView, UserFaults } from '../schemas/user.ts';
import { noBoxAnswer, type BoxClient, faultLines } from './box-client.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import type { Command } from './command.ts';
import { COLUMNS } from '../schemas/columns.ts';
import { given, pagesOf } from './pages.ts';
import { plainText } from '../../program/text.ts';
import { askOrReadSecret, ask, askHidden, firstLine, type Terminal } from './terminal.ts';

interface Account {
  readonly email: string;
  readonly password: string;
}

/** `boxctl user new`: a wizard, or the user that the argument describes. */
export const newUser: Command = {
  name: 'user new',
  synopsis: '[<email>:<password> | -]',
  summary: 'creates a user; without an argument it asks for email and password, with - it reads them as one line',
  examples: ['boxctl user new', "boxctl user new 'ann@example.com:correct horse'", 'boxctl user new - < account.txt'],
  arguments: [0, 1],
  async run({ args: [given], terminal, box, confirm }) {
    const client = await box();
    const user =
      given === undefined ? await askUntilCreated(client, terminal) : await createOnce(client, terminal, given);
    const sentence = `Created user ${plainText(userName(user))} in the box ${client.box}.`;
    await confirm(sentence, shownUser(user), COLUMNS.User);
  },
};

async function createOnce(client: BoxClient, terminal: Terminal, given: string): Promise<UserView> {
  const account = split(given === '-' ? await firstLine(terminal.input) : given);
  if (given !== '-')
    terminal.messages.write(
      'boxctl: the list of processes and the history of the shell show this password; `boxctl user new -` reads it from standard input\n',
    );
  const created = await create(client, account);
  if (!('errors' in created)) return created;
  throw notCreated(faultLines(created.errors));
}

function notCreated(lines: readonly string[]): CliError {
  return new CliError(EXIT.refused, `the user is not created:${lines.map((line) => `\n  ${line}`).join('')}`);
}

/** Splits at the first colon: a password may hold others, an email has none outside of quotes. Throws CliError. */
function split(text: string): Account {
  const colon = text.indexOf(':');
  if (colon > 0) return { email: text.slice(0, colon), password: text.slice(colon + 1) };
  throw usageError('the user is written as <email>:<password>, with a colon between them');
}

/**
 * Asks for email and password until the box takes them. What it takes is not asked for again. Throws CliError for ^C,
 * and if the box refuses for another reason.
 */
async function askUntilCreated(client: BoxClient, terminal: Terminal): Promise<UserView> {
  let email: string | undefined;
  let password: string | undefined;
  for (;;) {
    email ??= (await ask(terminal, 'Email: ')).trim();
    password ??= await askHidden(terminal, 'Password: ');
    const created = await create(client, { email, password });
    if (!('errors' in created)) return created;
    const lines = faultLines(created.errors);
    const isAbout = (field: string): boolean => lines.some((line) => line.startsWith(`${field}: `));
    // Another email or password would change nothing, as when the box is full.
    if (!isAbout('email') && !isAbout('password')) throw notCreated(lines);
    terminal.messages.write(lines.map((line) => `  ${line}\n`).join(''));
    if (isAbout('email')) email = undefined;
    if (isAbout('password')) password = undefined;
  }
}

/** Creates a user, or returns what is wrong. */
async function create(client: BoxClient, { email, password }: Account): Promise<UserView | UserFaults> {
  return (await client.request('POST', '/users', { body: { email, password }, expected: 422 })).body;
}

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
      await confirm(sentence, shownUser(body), COLUMNS.User);
    },
  };
}

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
    await invocation.confirm(sentence, shownUser(changed), COLUMNS.User);
  },
};

/** `boxctl user show`. */
export const showUser: Command = {
  name: 'user show',
  synopsis: '<id or email>',
  summary: 'prints one user, without the hash of the password',
  examples: ['boxctl user show ann@example.com', 'boxctl user show 7 --output yaml'],
  arguments: [1, 1],
  async run({ args: [who = ''], box, print }) {
    await print(shownUser(await findUser(await box(), who)), 'json', COLUMNS.User);
  },
};

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
    await print(users, 'json', COLUMNS.User);
  },
};

/** Returns a user without the hash of the password, which no person needs to see. */
function shownUser({ password: _hash, ...user }: UserView): ListedUser {
  return user;
}

/** Returns the user with an ID or email. Throws CliError if there is none. */
export async function findUser(box: BoxClient, idOrEmail: string): Promise<UserView> {
  const user = /^\d+$/.test(idOrEmail) ? await userAt(box, idOrEmail) : await userNamed(box, idOrEmail);
  if (user !== undefined) return user;
  throw new CliError(EXIT.refused, `there is no user ${JSON.stringify(idOrEmail)} in the box ${box.box}`);
}

async function userAt(box: BoxClient, id: string): Promise<UserView | undefined> {
  return (await box.request('GET', `/users/${id}`, { expected: 404 })).body;
}

async function userNamed(box: BoxClient, email: string): Promise<ListedUser | undefined> {
  const query = new URLSearchParams({ email }).toString();
  const { body } = await box.request('GET', `/users?${query}`);
  if (!isList(body)) throw noBoxAnswer(box.base);
  return body[0];
}

/** Returns the name of a user for a message: email and number. */
export function userName({ id, email }: Pick<UserView, 'id' | 'email'>): string {
  return `${email} (id ${String(id)})`;
}
