import type { WordHint } from './program.ts';

/** Returns the first sentence of an error of `parseArgs`, and the option that an unknown one may mean. */
export function optionFault(error: unknown, names: readonly string[], hint: WordHint): string {
  if (!(error instanceof Error)) return 'unknown option';
  const [first = ''] = error.message.split(/[.\n]/);
  const [, name = ''] = /^Unknown option '--([\w-]+)'$/.exec(first) ?? [];
  return (
    first +
    hint(
      `--${name}`,
      names.map((option) => `--${option}`),
    )
  );
}
