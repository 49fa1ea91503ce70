import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { wordHint } from '../../crds/did-you-mean.ts';
import { optionFault, plainText } from '../../program/text.ts';
import { usageError } from './cli-error.ts';
import type { Command, CommandOption } from './command.ts';
import type { OptionValues } from './option-values.ts';
import { FORMATS } from './output.ts';

/** Options of every command. */
export const COMMON_OPTIONS: Readonly<Record<string, CommandOption>> = {
  box: { type: 'string', value: '<box>', summary: 'the box (also BOXCTL_BOX, the kube namespace, `boxctl box use`)' },
  server: {
    type: 'string',
    value: '<URL>',
    summary: 'public URL of the installation (also BOXCTL_SERVER, `boxctl box use`)',
  },
  token: { type: 'string', value: '<token>', summary: 'access token; others can see it in `ps`, unlike BOXCTL_TOKEN' },
  'kube-client': {
    type: 'string',
    value: '<id>',
    summary: 'for `kubectl boxgate`: the client whose ServiceAccount signs you in (also BOXCTL_KUBE_CLIENT)',
  },
  output: { type: 'string', short: 'o', value: FORMATS.join('|'), summary: 'form of the result' },
  help: { type: 'boolean', short: 'h', summary: 'explains the command' },
  version: { type: 'boolean', summary: 'prints the version of boxctl' },
};

/** A command line that names a command. */
export interface CommandLine {
  readonly command: Command;
  readonly args: readonly string[];
  readonly values: OptionValues;
}

/** Words and options of a command line, before a command is looked up. */
export interface Words {
  readonly words: readonly string[];
  readonly values: OptionValues;
}

/**
 * Finds the command of a command line, and its arguments. Throws CliError for an unknown command or option, for an
 * option of another command, and for too few or too many arguments.
 */
export function readCommandLine(argv: readonly string[], commands: readonly Command[]): CommandLine {
  const { words, values } = splitWords(argv, commands);
  const command = commands.find(({ name }) => startsWith(words, name.split(' ')));
  if (command === undefined) throw unknownCommand(words, commands);
  const args = words.slice(command.name.split(' ').length);
  const known = { ...command.options, ...COMMON_OPTIONS };
  const foreign = Object.keys(values).find((name) => !Object.hasOwn(known, name));
  if (foreign !== undefined) throw usageError(`\`boxctl ${command.name}\` has no option --${foreign}`);
  const [least, most] = command.arguments;
  if (values['help'] !== true && (args.length < least || args.length > most))
    throw usageError(`usage: boxctl ${command.name} ${command.synopsis ?? ''}`.trimEnd());
  return { command, args, values: valuesOf(values, known) };
}

/**
 * Returns the values as the command declares its options: a list, or one value. Throws CliError for one given twice.
 */
function valuesOf(values: OptionValues, known: Readonly<Record<string, CommandOption>>): OptionValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (known[name]?.multiple === true || !Array.isArray(value)) return [name, value] as const;
      if (value.length > 1) throw usageError(`--${name} may be given only once`);
      return [name, value.map(String)[0]] as const;
    }),
  );
}

/** Splits arguments into words and options, of whatever command. Throws CliError for an option that no command has. */
export function splitWords(argv: readonly string[], commands: readonly Command[]): Words {
  const options: Record<string, CommandOption> = { ...COMMON_OPTIONS };
  for (const command of commands) Object.assign(options, command.options);
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: parsed(options), allowPositionals: true });
    return { words: positionals, values };
  } catch (error) {
    throw usageError(plainText(optionFault(error, Object.keys(options))));
  }
}

function parsed(options: Readonly<Record<string, CommandOption>>): ParseArgsOptionsConfig {
  return Object.fromEntries(
    // The same name may be a list in one command and one value in another.
    Object.entries(options).map(([name, { type, short }]) => {
      return [name, { type, multiple: type === 'string', ...(short === undefined ? {} : { short }) }] as const;
    }),
  );
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): Error {
  const names = commands.map(({ name }) => name);
  const [first = '', second = ''] = words;
  const isGroup = names.some((name) => name.startsWith(`${first} `));
  const typed = isGroup && second !== '' ? `${first} ${second}` : first;
  if (isGroup && second === '')
    return usageError(`\`boxctl ${first}\` needs a subcommand: \`boxctl ${first} help\` lists them`);
  const candidates = isGroup
    ? [...names.filter((name) => name.startsWith(`${first} `)), `${first} help`]
    : [...new Set(names.map(firstWord)), 'help'];
  return usageError(`there is no command ${plainText(typed)}${wordHint(typed, candidates)}`);
}

function firstWord(name: string): string {
  const [word = ''] = name.split(' ');
  return word;
}

/** Checks whether a list begins with the words given. */
export function startsWith(words: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((word, nth) => words[nth] === word);
}
