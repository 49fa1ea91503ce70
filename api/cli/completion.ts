import { COMMON_OPTIONS } from './arguments.ts';
import { usageError } from './cli-error.ts';
import type { Command } from './command.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** Returns `boxctl completion`, which completes the commands given and itself. */
export function completionOf(commands: readonly Command[]): Command {
  const completion: Command = {
    name: 'completion',
    synopsis: 'bash|zsh|fish',
    summary: 'prints a script that completes the commands and options of boxctl in a shell',
    examples: [
      'source <(boxctl completion bash)',
      'boxctl completion zsh > "${fpath[1]}/_boxctl"',
      'boxctl completion fish > ~/.config/fish/completions/boxctl.fish',
    ],
    hasNoRecord: true,
    arguments: [1, 1],
    run({ args: [shell = ''], terminal }) {
      const script = Object.entries(SCRIPTS).find(([name]) => name === shell)?.[1];
      if (script === undefined) throw usageError(`the shell must be one of ${Object.keys(SCRIPTS).join(', ')}`);
      terminal.output.write(script([...commands, completion].map(completed)));
      return Promise.resolve();
    },
  };
  return completion;
}

/** Returns the words of a command, without an option that the command refuses. */
function completed({ name, summary, options = {}, hasNoRecord = false }: Command): Completed {
  const names = Object.keys({ ...options, ...COMMON_OPTIONS }).filter((option) => !hasNoRecord || option !== 'output');
  return { name, summary, options: names.map((option) => `--${option}`) };
}

/** Returns the script for zsh, which runs the one for bash. */
function zshScript(commands: readonly Completed[]): string {
  return `#compdef boxctl
autoload -U +X bashcompinit && bashcompinit
${bashScript(commands)}`;
}

/** Returns the script for fish: a line for each word of a command, and for each of its options. */
function fishScript(commands: readonly Completed[]): string {
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

/** Returns the script for bash: words are completed until they name a command, then its options. */
function bashScript(commands: readonly Completed[]): string {
  const cases = commands.map(({ name, options }) => `    '${name}') options='${options.join(' ')}' ;;\n`).join('');
  const names = commands.map(({ name }) => `  '${name}'\n`).join('');
  return `# Completion of boxctl for bash.
_boxctl_names=(
${names})
_boxctl() {
  local word=\${COMP_WORDS[COMP_CWORD]} typed='' name='' each options='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    each=\${COMP_WORDS[index]}
    [[ $each == -* ]] && break
    typed+="$each "
  done
  if [[ $word != -* ]]; then
    for each in "\${_boxctl_names[@]}"; do
      [[ $each == "$typed$word"* ]] || continue
      each=\${each#"$typed"}
      COMPREPLY+=("\${each%% *}")
    done
    return
  fi
  for each in "\${_boxctl_names[@]}"; do
    [[ $typed == "$each "* && \${#each} -gt \${#name} ]] && name=$each
  done
  case "$name" in
${cases}  esac
  COMPREPLY=($(compgen -W "$options" -- "$word"))
}
complete -F _boxctl boxctl
`;
}

/** The words and options that a shell completes: those of one command. */
interface Completed {
  /** Words that name it. */
  readonly name: string;
  readonly summary: string;
  /** Its options, with two dashes. */
  readonly options: readonly string[];
}
