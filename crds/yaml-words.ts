import type { ScalarTag, TagId, Tags } from 'yaml';

/**
 * Returns tags that read unquoted words and numbers as kubectl does: YAML 1.1 in the form of go-yaml. `no` is false,
 * `0123` is 83; a time such as `2026-01-31` is text. For the `yaml` library, as `customTags` of its schema `core`.
 */
export function kubectlWords(tags: Tags): Tags {
  const others = tags.filter((tag) => typeof tag === 'string' || !REPLACED.has(tag.tag));
  const infinities: TagId = 'floatNaN';
  return [...others, FLAG, WHOLE_NUMBER, NUMBER, infinities];
}

/** Returns the name of a member without quotes, as kubectl writes it into JSON: `y` is `true`, `010` is `8`. */
export function plainName(source: string): string {
  if (FLAGS.has(source)) return String(FLAGS.get(source));
  const number = numberOf(source);
  return number === undefined || !Number.isSafeInteger(number) ? source : String(number);
}

const FLAGS: ReadonlyMap<string, boolean> = new Map(
  (['y', 'yes', 'true', 'on', 'n', 'no', 'false', 'off'] as const).flatMap((word) => {
    const isTrue = ['y', 'yes', 'true', 'on'].includes(word);
    const capital = `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
    return [word, capital, word.toUpperCase()].map((form) => [form, isTrue] as const);
  }),
);

const INTEGER = /^[-+]?(?:0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const DECIMAL = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

/** Returns the number that kubectl reads, or undefined for text. Underscores are skipped, except at the beginning. */
function numberOf(source: string): number | undefined {
  if (!/^[-+.0-9]/.test(source)) return undefined;
  const plain = source.startsWith('.') ? source : source.replaceAll('_', '');
  if (INTEGER.test(plain)) return integerOf(plain);
  const number = DECIMAL.test(plain) ? Number(plain) : NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** Reads a whole number; a leading zero means octal, as in C. */
function integerOf(plain: string): number {
  const digits = plain.replace(/^[-+]/, '').toLowerCase();
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits}` : digits;
  const number = Number(octal);
  return plain.startsWith('-') && number !== 0 ? -number : number;
}

const FLAG_TAG = 'tag:yaml.org,2002:bool';
const INTEGER_TAG = 'tag:yaml.org,2002:int';
const FLOAT_TAG = 'tag:yaml.org,2002:float';
const REPLACED: ReadonlySet<string> = new Set([FLAG_TAG, INTEGER_TAG, FLOAT_TAG]);

const FLAG: ScalarTag = {
  tag: FLAG_TAG,
  default: true,
  test: new RegExp(`^(?:${[...FLAGS.keys()].join('|')})$`),
  resolve: (source) => FLAGS.get(source) ?? source,
};
const WHOLE_NUMBER: ScalarTag = {
  tag: INTEGER_TAG,
  default: true,
  test: /^[-+]?0[bBxXoO]?[0-9a-fA-F_]+$/,
  resolve: (source) => numberOf(source) ?? source,
};
const NUMBER: ScalarTag = {
  tag: FLOAT_TAG,
  default: true,
  test: /^[-+]?[.0-9][0-9_.]*(?:[eE][-+]?[0-9_]+)?$/,
  resolve: (source) => numberOf(source) ?? source,
};
