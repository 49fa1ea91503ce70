/** Words that a sentence of a page may have. */
const MOST_WORDS = 35;

/** Pages whose sentences are counted. */
const pages = /^(?:(?:README|CONTRIBUTING|SECURITY)\.md|(?:docs|examples)\/.*\.md)$/;

/** A block of a page whose sentences end with it: a paragraph, a list item, a heading or a table cell. */
interface Block {
  readonly line: number;
  text: string;
}

/** Checks whether the sentences of a file are counted. */
export function isPage(file: string): boolean {
  return pages.test(file);
}

/** Returns the sentences of a page with too many words, each as `file:line: count: its first words`. */
export function longSentences(file: string, page: string): string[] {
  return blocksOf(page).flatMap(({ line, text }) =>
    sentencesOf(text)
      .map((sentence) => ({ sentence, words: wordsOf(sentence) }))
      .filter(({ words }) => words.length > MOST_WORDS)
      .map(({ words }) => `${file}:${String(line)}: ${String(words.length)} words: ${words.slice(0, 6).join(' ')}`),
  );
}

/**
 * Returns the sentences of a block. A code span is one word, with the test titles quoted after it. A link is its text.
 */
function sentencesOf(block: string): string[] {
  const plain = block
    .replaceAll(/(`+)[^]*?\1/g, '`')
    .replaceAll(/`(?:\s+"[^"]*")+/g, '`')
    .replaceAll(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1');
  return plain.split(/(?<=[.!?]["'”’)*]*)(?<!\b(?:e\.g|i\.e|etc)\.)\s+/);
}

function wordsOf(sentence: string): string[] {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}`]/u.test(word));
}

/** Returns the blocks of a page, without its code blocks. */
function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, content] of withoutCode(page).split('\n').entries()) {
    const line = index + 1;
    const text = content.replace(/^[\s>]*(?:(?:[-*+]|\d+\.)\s+|#{1,6}\s+)?/, '');
    const [isRow, isHeading] = [content.startsWith('|'), content.startsWith('#')];
    if (isRow || isHeading || text === '') {
      open = undefined;
      blocks.push(...(isRow ? cellsOf(content) : [text]).map((cell) => ({ line, text: cell })));
    } else if (open === undefined || /^[\s>]*(?:[-*+]|\d+\.)\s/.test(content)) {
      open = { line, text };
      blocks.push(open);
    } else {
      open.text += ` ${text}`;
    }
  }
  return blocks;
}

/** Returns the cells of a table's row; a `\|` separates none, and neither does one in code. */
function cellsOf(row: string): string[] {
  return row.replaceAll(/`[^`]*`/g, '`x`').split(/(?<!\\)\|/);
}

/** Empties the lines of fenced and indented code, so that the other lines keep their numbers. */
function withoutCode(page: string): string {
  const emptied = (code: string): string => code.replaceAll(/[^\n]/g, '');
  return page
    .replaceAll(/^( *)```[^]*?^\1```$/gm, emptied)
    .replaceAll(/<!--[^]*?-->/g, emptied)
    .replaceAll(/(?<=\n\n)(?: {4}[^\n]*\n)+/g, (code) => (/^ {4,}(?:[-*+]|\d+\.)\s/.test(code) ? code : emptied(code)));
}
