import type { CreateNodeOptions, DocumentOptions, SchemaOptions, ToStringOptions } from 'yaml';
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
  return escaped(JSON.stringify(value, null, 2));
}

/** Options of the `yaml` library, for a document and its text. */
type YamlOptions = DocumentOptions & SchemaOptions & CreateNodeOptions & ToStringOptions;

/** Returns YAML, in which no character moves the cursor of a terminal or hides text on it. */
export async function yamlText(value: unknown, options: YamlOptions = {}): Promise<string> {
  // Loaded only where it is needed: the library takes longer to load than all of boxctl.
  const { Document, visit } = await import('yaml');
  const document = new Document(value, options);
  visit(document, {
    Scalar(_, node) {
      // Only a text in double quotes can have an escape. Names are scalars too.
      if (typeof node.value === 'string' && escaped(node.value) !== node.value) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString(options));
}

/** Escapes the characters that JSON and YAML leave as they are, though they act on a terminal. */
function escaped(text: string): string {
  return text.replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
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
  const widths = widthsOf(columns, rows);
  const [heading = '', ...lines] = rows.map((row) =>
    row
      .map((cell, nth) => cell.padEnd(widths[nth] ?? 0))
      .join('   ')
      .trimEnd(),
  );
  return [isStyled ? `\x1b[1m${heading}\x1b[0m` : heading, ...lines].map((line) => `${line}\n`).join('');
}

/** Returns the width of the widest cell in each column, in characters. */
export function widthsOf(columns: readonly unknown[], rows: readonly (readonly string[])[]): readonly number[] {
  return columns.map((_, nth) => rows.reduce((widest, row) => Math.max(widest, row[nth]?.length ?? 0), 0));
}
