/** Phrases that a page or a comment must not contain, each with the standard words for it. */
const unusual = {
  anew: 'again',
  'for ever': 'forever',
  'made again': 'created again',
  'stands in': 'is in, is listed in',
  'says no': 'denies',
  'takes away': 'removes, revokes',
} as const;

/** Words between two words of a phrase: blanks, or the end of a line with the beginning of the next comment line. */
const gap = String.raw`(?:[^\S\n]+|[^\S\n]*\n[\s>*/#-]*)`;

/** An `else` that ends a sentence; `nobody else` and the like are standard English. */
const lastElse = new RegExp(
  String.raw`(?<!\b(?:any|every|no|some)(?:body|one|thing|where)${gap})(?<!\bwho${gap})\belse\b(?=[.!?;]|\s*\*/|\s*\|)`,
  'gi',
);

/** A doc comment that begins with a clause: it has neither a noun nor a verb for its subject. */
const clause = /\/\*\*[\s*]*(?:What|Whether|Who|Whose|How|Where|When|Which|That|Of|Why)\b[^\n*]*/g;

const patterns: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [clause, 'a noun or a verb, at the beginning'],
  ...Object.entries(unusual).map(
    ([phrase, instead]) => [new RegExp(String.raw`\b${phrase.replace(' ', gap)}\b`, 'gi'), instead] as const,
  ),
  [lastElse, 'otherwise, at the beginning'],
];

/** Files that are read whole: pages, examples, the breaks of the mutants, and the product with its messages. */
const readWhole =
  /^(?:(?:README|CONTRIBUTING|SECURITY)\.md|docs\/.*\.md|examples\/.*\.(?:md|yaml)|test\/mutants\/.*|(?:api|crds|dev|operator|program)\/.*\.(?:cjs|sql|ts|yaml))$/;

/** Files of which only the comments are read. */
const readComments = /^(?:test|tools)\/.*\.(?:cjs|ts)$/;

/** Checks whether the words of a file are checked. */
export function hasPlainWords(file: string): boolean {
  return readWhole.test(file) || readComments.test(file);
}

/** Returns the unusual phrases of a file, each as `file:line: the phrase (the standard words)`. */
export function unusualWords(file: string, text: string): string[] {
  const read = readComments.test(file) ? commentsOf(text) : text;
  const found = patterns.flatMap(([pattern, instead]) =>
    [...read.matchAll(pattern)].map(({ 0: phrase, index }) => {
      const line = read.slice(0, index).split('\n').length;
      return { line, said: `${file}:${String(line)}: ${phrase.replaceAll(/\s+/g, ' ')} (${instead})` };
    }),
  );
  return found.sort((one, other) => one.line - other.line).map(({ said }) => said);
}

/** Returns the comments of a source; its other lines are empty, so that the lines keep their numbers. */
function commentsOf(source: string): string {
  let text = '';
  let end = 0;
  for (const { 0: comment, index } of source.matchAll(/(?<=^|[\s(,;])(?:\/\*[^]*?\*\/|\/\/[^\n]*)/g)) {
    text += source.slice(end, index).replaceAll(/[^\n]/g, '') + comment;
    end = index + comment.length;
  }
  return text;
}
