import type { Completed } from './completed.ts';

/** Returns the script for bash: words are completed until they name a command, then its options. */
export function bashScript(commands: readonly Completed[]): string {
  const cases = commands.map(({ name, options }) => `    '${name}') options='${options.join(' ')}' ;;\n`).join('');
  const names = commands.map(({ name }) => `  '${name}'\n`).join('');
  return `# Completion of boxctl for bash.
_boxctl_names=(
${names})
_boxctl() {
  local word=\${COMP_WORDS[COMP_CWORD]} typed='' each options='' index
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
  case "\${typed% }" in
${cases}    *) for each in "\${_boxctl_names[@]}"; do
         [[ $typed == "$each "* ]] && options=$(_boxctl_options "$each")
       done ;;
  esac
  COMPREPLY=($(compgen -W "$options" -- "$word"))
}
_boxctl_options() {
  local options=''
  case "$1" in
${cases}  esac
  printf '%s' "$options"
}
complete -F _boxctl boxctl
`;
}
