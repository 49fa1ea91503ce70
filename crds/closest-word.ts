/** Longest text that is compared with words: a longer one is no misspelling. */
const LONGEST = 64;

/**
 * Returns the word that a misspelled text probably means: the one with the fewest changes, if those are few for its
 * length. Case and separators are no changes: `grantTypes` is `grant_types`. The first of several wins; undefined if
 * none is close.
 */
export function closestWord(text: string, words: Iterable<string>): string | undefined {
  if (text.length > LONGEST) return undefined;
  const letters = lettersOf(text);
  let closest: string | undefined;
  let fewest = mostChanges(letters) + 1;
  for (const word of words) {
    const other = lettersOf(word);
    if (word === text || other === '' || Math.abs(other.length - letters.length) >= fewest) continue;
    const changes = distance(letters, other);
    if (changes < fewest) [closest, fewest] = [word, changes];
  }
  return closest;
}

/** Returns a text without case and separators. */
export function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[-_.\s]/g, '');
}

/** Returns the number of changes up to which a text is taken for a misspelled word: a quarter of its length, 1 to 5. */
function mostChanges({ length }: string): number {
  return length < 3 ? 0 : Math.min(Math.max(Math.round(length / 4), 1), 5);
}

/**
 * Returns how many single changes lead from one text to another: a letter added, left out, replaced, or exchanged with
 * its neighbour (the restricted Damerau-Levenshtein distance). Three rows of numbers, whatever the texts.
 */
function distance(one: string, other: string): number {
  let before: readonly number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isExchanged = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          at(above, column) + 1,
          at(current, column - 1) + 1,
          at(above, column - 1) + (isSame ? 0 : 1),
          isExchanged ? at(before, column - 2) + 1 : Infinity,
        ),
      );
    }
    [before, above] = [above, current];
  }
  return at(above, other.length);
}

/** Returns a number of a row; infinite beyond its ends, where there is nothing to change. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
