import { COMMON_OPTIONS, startsWith } from './arguments.ts';
import type { Command, CommandOption } from './command.ts';

/** Returns the text of `boxctl help`, or of `boxctl <words> help`: the commands that begin with the words. */
export function overview(commands: readonly Command[], words: readonly string[]): string {
  const shown = commands.filter(({ name }) => startsWith(name.split(' '), words));
  const lines = shown.map(
    ({ name, synopsis, summary }) => [`boxctl ${name} ${synopsis ?? ''}`.trimEnd(), summary] as const,
  );
  const heading = words.length === 0 ? 'boxctl: users and settings of a Boxgate box\n\n' : '';
  return `${heading}Commands:\n${columns(lines)}\nOptions of every command:\n${optionLines(COMMON_OPTIONS)}\n\`boxctl <command> --help\` explains a command, with examples.\n`;
}

/** Returns the text of `boxctl <command> --help`. */
export function commandHelp({ name, synopsis, summary, examples, options = {} }: Command): string {
  const own = Object.keys(options).length === 0 ? '' : `\nOptions:\n${optionLines(options)}`;
  const shown = examples.map((example) => `  ${example}\n`).join('');
  const usage = `Usage: boxctl ${name} ${synopsis ?? ''}`.trimEnd();
  return `${summary}\n\n${usage}\n${own}\nExamples:\n${shown}`;
}

function optionLines(options: Readonly<Record<string, CommandOption>>): string {
  return columns(
    Object.entries(options).map(([name, { value, summary }]) => [`--${name} ${value ?? ''}`.trimEnd(), summary]),
  );
}

function columns(lines: readonly (readonly [left: string, right: string])[]): string {
  const width = Math.max(0, ...lines.map(([left]) => left.length));
  return lines.map(([left, right]) => `  ${left.padEnd(width)}   ${right}\n`).join('');
}
