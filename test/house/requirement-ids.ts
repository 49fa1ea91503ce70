/** Pattern of the IDs of requirements, as test titles carry them. */
const id = String.raw`(?:[ACFGKPSTUWX]-\d\d|R-(?:\d\d|B\d)|I\d{1,2}|peer defect \d+|row \d+)`;

/** A text that begins with an ID: a test title, or the key or title of a row that becomes one. */
const titles = new RegExp(String.raw`['"\x60](?=${id}\b)([^'"\x60\n]*)`, 'g');

/** Further IDs in a title: `X-14 I12: secrets`, `C-01 to C-04`, `… (S-03)`. */
const ids = new RegExp(String.raw`\b${id}\b`, 'g');

/** IDs with a letter and a hyphen, which mean nothing else in a test. */
const plainIds = /(?<![\w-])(?:[ACFGKPSTUWX]-\d\d|R-(?:\d\d|B\d))(?![\w-])/g;

/** Returns the IDs of requirements that a test file names. */
export function namedIds(source: string): ReadonlySet<string> {
  const inTitles = [...source.matchAll(titles)].flatMap(([, title = '']) => [...title.matchAll(ids)]);
  return new Set([...inTitles, ...source.matchAll(plainIds)].map(([found]) => found));
}

/** Returns the IDs that the tables of a page define: the first cells of their rows. */
export function definedIds(page: string): readonly string[] {
  return [...page.matchAll(new RegExp(String.raw`^\| (${id}) \|`, 'gm'))].map(([, defined = '']) => defined);
}

/** Returns the faults of the definitions: IDs without one, and IDs with two. */
export function definitionFaults(named: ReadonlySet<string>, defined: readonly string[]): string[] {
  return [
    ...[...named].filter((one) => !defined.includes(one)).map((one) => `${one} is not defined in a page`),
    ...defined.filter((one, index) => defined.indexOf(one) !== index).map((one) => `${one} is defined twice`),
  ].sort();
}
