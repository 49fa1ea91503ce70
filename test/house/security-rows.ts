/**
 * Returns what is wrong with the tables whose last column is `test`: each row needs a test file and, in quotes, words
 * of a title of it, or says that there is nothing to test. `read` gives the text of a file; undefined: it is not there.
 */
export function faultsOfRows(page: string, read: (file: string) => string | undefined): readonly string[] {
  return tablesOf(page)
    .flatMap(rowsWithTests)
    .flatMap((cells) => faultOfRow(cells, read).map((fault) => `${cells[0] ?? ''}: ${fault}`));
}

/** Lines that follow each other and begin with a bar. */
function tablesOf(page: string): readonly (readonly string[])[] {
  return page.split(/\n(?!\|)/).map((part) => part.split('\n').filter((line) => line.startsWith('|')));
}

function rowsWithTests([head = '', , ...rows]: readonly string[]): readonly (readonly string[])[] {
  return cellsOf(head).at(-1) === 'test' ? rows.map(cellsOf) : [];
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

const nothingToTest = /^(there (is|are) none|not met|no timeout)\b/;
const reference = /`(test\/[^`]+)`((?: "[^"]+")+)(?:, )?/g;

function faultOfRow(cells: readonly string[], read: (file: string) => string | undefined): readonly string[] {
  const [claim = '', tests = ''] = cells.slice(-2);
  if (tests === '') return nothingToTest.test(claim) ? [] : ['has no test'];
  const rest = tests.replaceAll(reference, '');
  if (rest !== '') return [`is not a test file with titles in quotes: ${rest}`];
  return [...tests.matchAll(reference)].flatMap(([, file = '', titles = '']) => {
    const text = read(file);
    if (text === undefined) return [`${file} is not there`];
    const strings = withoutComments(text);
    const words = [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title);
    return words.filter((title) => !strings.includes(title)).map((title) => `${file} has no test "${title}"`);
  });
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}
