import type { Completed } from './completed.ts';
import { bashScript } from './bash.ts';

/** Returns the script for zsh, which runs the one for bash. */
export function zshScript(commands: readonly Completed[]): string {
  return `#compdef boxctl
autoload -U +X bashcompinit && bashcompinit
${bashScript(commands)}`;
}
