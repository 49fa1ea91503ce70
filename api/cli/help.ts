import { COMMON_OPTIONS, startsWith } from './arguments.ts';
import type { Command, CommandOption } from './command.ts';
import { releaseVersion } from '../../program/version.ts';
import { column } from '../schemas/columns.ts';

/** `boxctl version`. */
export const version: Command = {
  name: 'version',
  summary: 'prints the version of boxctl',
  examples: ['boxctl version'],
  arguments: [0, 0],
  async run({ confirm }) {
    const record = { version: releaseVersion() };
    await confirm(`boxctl ${record.version}`, record, [column('VERSION', 'version')]);
  },
};

/** Returns what `boxctl --version` prints. */
export function versionLine(): string {
  return `boxctl ${releaseVersion()}\n`;
}

/** Longest line of a help text, in columns. Examples are never broken. */
const WIDTH = 80;
/** Most examples of an overview. */
const MOST_EXAMPLES = 3;

/** Examples of the whole: signing in, a list, and a question. */
const FIRST_STEPS = [
  'boxctl login --server https://auth.example.com --box shop',
  'boxctl user list --output table',
  'boxctl can ann@example.com DELETE /users/7',
] as const;

/** Returns the text of `boxctl help`, or of `boxctl <words> help`: the commands that begin with the words. */
export function overview(commands: readonly Command[], words: readonly string[]): string {
  const shown = commands.filter(({ name }) => startsWith(name.split(' '), words));
  const entries = shown.map(
    ({ name, synopsis, summary }) => [`boxctl ${name} ${synopsis ?? ''}`.trimEnd(), summary] as const,
  );
  const heading = words.length === 0 ? 'boxctl: users and settings of a Boxgate box\n\n' : '';
  const examples = words.length === 0 ? FIRST_STEPS : shortExamples(shown);
  return [
    `${heading}Commands:\n${entryLines(entries)}`,
    `Options of every command:\n${optionLines(COMMON_OPTIONS)}`,
    `Examples:\n${exampleLines(examples)}`,
    '`boxctl <command> --help` explains a command, with examples.\n',
  ].join('\n');
}

/** Returns the text of `boxctl <command> --help`. */
export function commandHelp({ name, synopsis, summary, examples, options = {} }: Command): string {
  const own = Object.keys(options).length === 0 ? '' : `\nOptions:\n${optionLines(options)}`;
  const usage = wrapped(`Usage: boxctl ${name} ${synopsis ?? ''}`.trimEnd(), 0);
  return `${wrapped(summary, 0)}\n${usage}${own}\nExamples:\n${exampleLines(examples)}`;
}

/** Returns a help text with the commands as a person types them who has boxctl as the plugin of kubectl. */
export function asPlugin(text: string): string {
  return text.replaceAll(/\bboxctl(?=[ :])/g, 'kubectl boxgate');
}

/** Returns the first examples of commands that are as wide as a line at most. */
function shortExamples(commands: readonly Command[]): readonly string[] {
  const first = commands.flatMap(({ examples }) => examples.slice(0, 1));
  const others = commands.flatMap(({ examples }) => examples.slice(1));
  return [...first, ...others].filter((example) => example.length <= WIDTH - 2).slice(0, MOST_EXAMPLES);
}

function exampleLines(examples: readonly string[]): string {
  return examples.map((example) => `  ${example}\n`).join('');
}

function optionLines(options: Readonly<Record<string, CommandOption>>): string {
  return entryLines(
    Object.entries(options).map(([name, { short, value, summary }]) => {
      const letter = short === undefined ? '' : `-${short}, `;
      return [`${letter}--${name} ${value ?? ''}`.trimEnd(), summary];
    }),
  );
}

function entryLines(entries: readonly (readonly [term: string, summary: string])[]): string {
  return entries.map(([term, summary]) => wrapped(term, 2) + wrapped(summary, 6)).join('');
}

/** Breaks a text between words into lines behind an indent, in columns. */
function wrapped(text: string, indent: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    const isFull = line === undefined || indent + line.length + 1 + word.length > WIDTH;
    if (isFull) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line) => `${' '.repeat(indent)}${line}\n`).join('');
}
