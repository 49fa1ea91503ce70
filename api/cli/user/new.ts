import { plainText } from '../../../process/plain-text.ts';
import { ask, askHidden } from '../ask.ts';
import type { UserFaults, UserView } from '../../schemas/user.ts';
import { faultLines, type BoxClient } from '../box-client.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { Command } from '../command.ts';
import { firstLine, type Terminal } from '../terminal.ts';
import { shownUser, USER_COLUMNS, userName } from './user.ts';

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
    await confirm(sentence, shownUser(user), USER_COLUMNS);
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
