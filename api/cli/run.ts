import path from 'node:path';
import type { Environment } from '../../program/environment.ts';
import { readCommandLine, splitWords } from './arguments.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import type { Command, Invocation } from './command.ts';
import type { OptionValues } from './option-values.ts';
import { signIn, type SignedIn } from './credential.ts';
import { currentBox, type BoxAddress } from './current-box.ts';
import { asPlugin, commandHelp, overview, versionLine, version } from './help.ts';
import { FORMATS, formatted, type Format } from './output.ts';
import { kubectlOf } from './kubectl.ts';
import { stateIn, type State } from './state-file.ts';
import type { Terminal } from './terminal.ts';
import { audit, why } from './audit.ts';
import { listBoxes, boxStatus, moveBox, useBox } from './box.ts';
import { clientCommands } from './client.ts';
import { completionOf } from './completion.ts';
import { can, explain } from './decision.ts';
import { diffFolder, exportBox } from './export/export.ts';
import { groupCommands } from './group.ts';
import { login, logout } from './login.ts';
import { showToken, token } from './token.ts';
import { planFolder } from './plan.ts';
import { policyCommands } from './policy.ts';
import { sessionCommands } from './session.ts';
import { deleteUser, listUsers, showUser, setUser, disableUser, enableUser, newUser } from './user.ts';
import { userGroups } from './user-groups.ts';

const commands: readonly Command[] = [
  login,
  logout,
  // Before `token`, whose name it begins with.
  showToken,
  token,
  useBox,
  listBoxes,
  boxStatus,
  moveBox,
  listUsers,
  newUser,
  showUser,
  setUser,
  disableUser,
  enableUser,
  userGroups,
  deleteUser,
  ...groupCommands,
  ...clientCommands,
  ...policyCommands,
  ...sessionCommands,
  can,
  explain,
  exportBox,
  diffFolder,
  planFolder,
  audit,
  why,
  version,
];

/** Every command, in the order of the help text. */
export const COMMANDS: readonly Command[] = [...commands, completionOf(commands)];

/** Surroundings of a run: where it reads, writes and keeps what it keeps. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly environment: Environment;
  /** The person's home folder. */
  readonly home: string;
  /** True if kubectl has started it: `kubectl boxgate`. */
  readonly isPlugin?: boolean;
}

/** Runs a command line without the program's name; resolves with the exit code (see EXIT). Errors are printed. */
export async function run(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { output, messages } = surroundings.terminal;
  try {
    const text = informationFor(argv);
    if (text !== undefined) output.write(surroundings.isPlugin === true ? asPlugin(text) : text);
    else await runCommand(argv, surroundings);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.message !== '') messages.write(`boxctl: ${error.message}\n`);
    return error.exitCode;
  }
}

/** Returns the text of a request for help or the version; undefined for another command. Throws CliError. */
function informationFor(argv: readonly string[]): string | undefined {
  const { words, values } = splitWords(argv, COMMANDS);
  const [first] = words;
  if (values['version'] === true) return versionLine();
  const group = words.at(-1) === 'help' ? words.slice(0, -1) : values['help'] === true ? words : undefined;
  const explained = first === 'help' && words.length > 1 ? words.slice(1) : group;
  if (explained !== undefined && isGroup(explained)) return overview(COMMANDS, explained);
  if (first === 'help') return commandHelp(readCommandLine([...words.slice(1), '--help'], COMMANDS).command);
  if (words.length > 0)
    return values['help'] === true ? commandHelp(readCommandLine(argv, COMMANDS).command) : undefined;
  throw usageError(`which command?\n\n${overview(COMMANDS, [])}`);
}

/** Checks whether words begin the names of several commands, without being one. */
function isGroup(words: readonly string[]): boolean {
  const beginning = words.map((word) => `${word} `).join('');
  return COMMANDS.some(({ name }) => name.startsWith(beginning));
}

async function runCommand(argv: readonly string[], surroundings: Surroundings): Promise<void> {
  const { command, args, values } = readCommandLine(argv, COMMANDS);
  let signedIn: SignedIn | undefined;
  const { environment, isPlugin = false } = surroundings;
  const kubectl = isPlugin ? kubectlOf(environment) : undefined;
  const warn = (text: string): void => void surroundings.terminal.messages.write(`boxctl: ${text}\n`);
  if (command.hasNoRecord === true && values['output'] !== undefined && values['help'] !== true)
    throw usageError(`\`boxctl ${command.name}\` prints no record, so it has no --output`);
  const format = formatOf(values['output'], command);
  const invoked = invocationOf({ args, values, format }, surroundings, async (address, state) => {
    signedIn ??= await signIn(values, environment, address, { state, kubectl, warn });
    return signedIn;
  });
  await ended(command, invoked, async () => (command.keepsToken === true ? undefined : signedIn?.end()));
}

async function ended(command: Command, invocation: Invocation, end: () => Promise<void>): Promise<void> {
  try {
    await command.run(invocation);
  } finally {
    await end();
  }
}

/** A command line as it was typed. */
interface Typed {
  readonly args: readonly string[];
  readonly values: OptionValues;
  /** Absent without --output, and for a form that the command writes itself. */
  readonly format: Format | undefined;
}

function invocationOf(
  { args, values, format }: Typed,
  { terminal, environment, home, isPlugin = false }: Surroundings,
  signedIn: (address: BoxAddress, state: State) => Promise<SignedIn>,
): Invocation {
  const folder = environment['XDG_CONFIG_HOME'] ?? '';
  const state = stateIn(path.join(folder === '' ? path.join(home, '.config') : folder, 'boxctl', 'state.json'));
  // https://no-color.org
  const isStyled = terminal.output.isTTY === true && (environment['NO_COLOR'] ?? '') === '';
  const kubectl = kubectlOf(environment);
  let found: Promise<BoxAddress> | undefined;
  // Once for a command: it may ask a cluster.
  const address = (): Promise<BoxAddress> =>
    (found ??= currentBox(values, environment, { state, home, kubectl, isPlugin }));
  const print: Invocation['print'] = async (value, otherwise, columns) => {
    const chosen = format ?? otherwise;
    terminal.output.write(await formatted(value, chosen, columns, { isStyled }));
    if (chosen === 'table' && Array.isArray(value) && value.length === 0) terminal.messages.write('There are none.\n');
  };
  return {
    args,
    values,
    terminal,
    state,
    environment,
    address,
    box: async () => (await signedIn(await address(), state)).client,
    print,
    confirm: async (sentence, record, columns) => {
      if (format === undefined) terminal.output.write(`${sentence}\n`);
      else await print(record, format, columns);
    },
  };
}

/** Returns the form of --output; undefined without it, and for one of the command's own. Throws CliError. */
function formatOf(value: OptionValues[string], { formats = [], withoutFormats = [] }: Command): Format | undefined {
  const common = FORMATS.filter((known) => !withoutFormats.includes(known));
  const format = common.find((known) => known === value);
  if (value !== undefined && format === undefined && !formats.some((known) => known === value))
    throw usageError(`--output must be one of ${[...common, ...formats].join(', ')}`);
  return format;
}
