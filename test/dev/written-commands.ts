/** A line, or a whole ```sh block, begins with one of these where it is a command. */
const command =
  /^(?:\.\/box(?:gate|ctl)|make|npm|npx|node|curl|git|kubectl|helm|kind|docker|go|java|python3|boxgate|psql|until|[A-Z][A-Z_]+=\S+|CREATE ROLE) ?/;

/**
 * The commands of a page, as they are written: each ```sh block, and each line of an indented block that begins with a
 * program. What stands behind three blanks in such a line is said about the command.
 */
export function writtenCommands(page: string): readonly string[] {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```\n/gms)].map(([, text = '']) => text.trimEnd());
  const plain = page.replaceAll(/^```.*?^```\n/gms, '');
  const lines = [...plain.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = '']) => line.split(/ {3,}/, 1)[0] ?? '');
  return [...blocks, ...lines.filter((line) => command.test(line))];
}

/** The one command of a page that contains a text. Throws when there is not exactly one. */
export function commandWith(commands: readonly string[], text: string): string {
  const found = commands.filter((one) => one.includes(text));
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  throw new Error(`${String(found.length)} commands contain ${text}`);
}
