/** A row of the tables of docs/maintainers/reliability.md: what it is about, and the test files that it names. */
export interface FaultRow {
  /** `F-13`, `I5`, `peer defect 7`. */
  readonly id: string;
  readonly files: readonly string[];
}

/** Pattern of the IDs of rows, which their tests carry. */
const rowId = String.raw`(?:F-\d\d|I\d+|peer defect \d+)`;

/**
 * Every row of a fault, an invariant or a peer's defect in the page; its last column says where the tests are, or that
 * there are none.
 */
export function faultRows(page: string): readonly FaultRow[] {
  return page
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, first = '']) => new RegExp(`^${rowId}$`).test(first))
    .map((cells) => {
      const last = cells.at(-2) ?? '';
      return { id: cells[1] ?? '', files: [...last.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file) };
    });
}

/** The ids that the titles of a test file begin with or hold. */
export function idsInTitles(source: string): ReadonlySet<string> {
  const titles = [...source.matchAll(/\b(?:it|describe)\(\s*(['"`])(.*?)\1/g)].map(([, , title = '']) => title);
  return new Set(titles.flatMap((title) => title.match(new RegExp(String.raw`\b${rowId}\b`, 'g')) ?? []));
}

/**
 * Returns the differences between the page and the tests: missing or duplicate IDs; files that have no test of the
 * row's name; rows without a file although there is a test of their name.
 */
export function compareFaults(
  wanted: readonly string[],
  rows: readonly FaultRow[],
  tests: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] {
  const missing = wanted.filter((id) => rows.filter((row) => row.id === id).length !== 1);
  return [
    ...missing.map((id) => `${id} must have one row`),
    ...rows.flatMap(({ id, files }) =>
      files.filter((file) => tests.get(file)?.has(id) !== true).map((file) => `${file} has no test of the name ${id}`),
    ),
    ...rows
      .filter(({ files }) => files.length === 0)
      .flatMap(({ id }) =>
        [...tests].filter(([, ids]) => ids.has(id)).map(([file]) => `the row of ${id} does not name ${file}`),
      ),
  ];
}
