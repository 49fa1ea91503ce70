import type { Completed } from './completed.ts';

/** Returns the script for fish: a line for each word of a command, and for each of its options. */
export function fishScript(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ name, summary, options }) => {
    const [first = '', second] = name.split(' ');
    const begins = `__fish_seen_subcommand_from ${first}`;
    const isNamed = second === undefined ? begins : `${begins}; and __fish_seen_subcommand_from ${second}`;
    return [
      second === undefined
        ? `complete -c boxctl -n __fish_use_subcommand -a ${first} -d ${quoted(summary)}`
        : `complete -c boxctl -n '${begins}' -a ${second} -d ${quoted(summary)}`,
      ...options.map((option) => `complete -c boxctl -n '${isNamed}' -l ${option.slice(2)}`),
    ];
  });
  const groups = [...new Set(commands.filter(({ name }) => name.includes(' ')).map(({ name }) => name.split(' ')[0]))];
  const words = groups.map((word) => `complete -c boxctl -n __fish_use_subcommand -a ${word ?? ''}`);
  return `# Completion of boxctl for fish.\ncomplete -c boxctl -f\n${[...words, ...lines].join('\n')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, (sign) => `\\${sign}`)}'`;
}
