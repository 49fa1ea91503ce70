import { isObject } from '../../crds/json-value.ts';
import { plainText } from '../../process/plain-text.ts';

/** Forms in which a command prints its result. */
export const FORMATS = ['json', 'yaml', 'table'] as const;
/** One of {@link FORMATS}. */
export type Format = (typeof FORMATS)[number];

/** A column of a table: its heading, and the text of a record. */
export interface Column {
  readonly heading: string;
  text(record: Readonly<Record<string, unknown>>): string;
}

/** Properties of the terminal that shows a table. */
export interface Look {
  /** True if headings may be bold. */
  readonly isStyled: boolean;
}

/** Returns records in a format, a table with the columns given. Control characters of the data are escaped. */
export async function formatted(
  value: unknown,
  format: Format,
  columns: readonly Column[],
  look: Look,
): Promise<string> {
  switch (format) {
    case 'json':
      return `${jsonText(value)}\n`;
    case 'yaml':
      return yamlText(value);
    case 'table':
      return table((Array.isArray(value) ? value : [value]).filter(isObject), columns, look);
  }
}

/** Returns JSON, in which no character moves the cursor of a terminal or hides text on it. */
function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Loads the library only where it is needed: it takes longer to load than all of boxctl. */
async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value);
}

function table(
  records: readonly Readonly<Record<string, unknown>>[],
  columns: readonly Column[],
  { isStyled }: Look,
): string {
  const rows = [
    columns.map(({ heading }) => heading),
    ...records.map((record) => columns.map((column) => plainText(column.text(record)))),
  ];
  const widths = columns.map((_, nth) => Math.max(...rows.map((row) => row[nth]?.length ?? 0)));
  const [heading = '', ...lines] = rows.map((row) =>
    row
      .map((cell, nth) => cell.padEnd(widths[nth] ?? 0))
      .join('   ')
      .trimEnd(),
  );
  return [isStyled ? `\x1b[1m${heading}\x1b[0m` : heading, ...lines].map((line) => `${line}\n`).join('');
}
