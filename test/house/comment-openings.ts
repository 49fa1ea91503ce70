/** Words that introduce a clause: a comment that begins with one has neither a noun nor a verb for its subject. */
const clauseWords = ['What', 'Whether', 'Who', 'Whose', 'How', 'Where', 'When', 'Which', 'That', 'Of', 'Why'] as const;

/** A doc comment that begins a line and whose text begins with one of these words. */
const opening = new RegExp(`^[ \\t]*/\\*\\*[\\s*]*((?:${clauseWords.join('|')})\\b.*)`, 'gm');

/** Folders whose doc comments are checked. */
const folders = /^(?:api|crds|dev|operator|process|program|test|tools)\//;

/**
 * Checks whether the doc comments of a file are checked: it is a source file of the product, its tests or its tools.
 */
export function isCheckedSource(file: string): boolean {
  return folders.test(file) && /\.tsx?$/.test(file);
}

/** Returns the doc comments of a file that begin with a clause, each as `file:line: its first words`. */
export function clauseOpenings(file: string, text: string): string[] {
  return [...text.matchAll(opening)].map(({ index, 1: sentence = '' }) => {
    const line = text.slice(0, index).split('\n').length;
    return `${file}:${String(line)}: ${firstWords(sentence)}`;
  });
}

function firstWords(sentence: string): string {
  return sentence.replace('*/', '').trim().split(' ').slice(0, 6).join(' ');
}
