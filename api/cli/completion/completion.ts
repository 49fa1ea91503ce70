import { COMMON_OPTIONS } from '../arguments.ts';
import { usageError } from '../cli-error.ts';
import type { Command } from '../command.ts';
import { bashScript } from './bash.ts';
import type { Completed } from './completed.ts';
import { fishScript } from './fish.ts';
import { zshScript } from './zsh.ts';

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
