import { usageError } from '../cli-error.ts';
import type { OptionValues } from '../option-values.ts';

/** Returns the options of these names that were given, each once, by name. */
export function given(values: OptionValues, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = values[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

/** Returns the number of an option `--limit`. Throws CliError. */
export function limitOf(value: OptionValues[string], otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value === 'string' && /^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw usageError('--limit must be a number of at least 1');
}
