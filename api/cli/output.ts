import type { CreateNodeOptions, DocumentOptions, SchemaOptions, ToStringOptions } from 'yaml';
import { isObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import type { Link, AccessPolicyView, ClientView } from '../schemas/stored.ts';
import type { Explanation, PolicyUsage } from '../schemas/explanation.ts';
import type { GrantView, SessionView } from '../schemas/account.ts';
import type { Column } from '../schemas/columns.ts';
import type { GroupView } from '../schemas/group.ts';
import type { OperationOutcome } from '../schemas/problems.ts';
import type { ListedUser, UserFaults, UserView } from '../schemas/user.ts';

/** Forms in which a command prints its result. */
export const FORMATS = ['json', 'yaml', 'table'] as const;
/** One of {@link FORMATS}. */
export type Format = (typeof FORMATS)[number];

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

/** Resources by the first part of their path, as the schemas of the API describe them. */
interface Resources {
  readonly Client: ClientView;
  readonly AccessPolicy: AccessPolicyView;
  readonly Session: SessionView;
  readonly Group: GroupView;
  readonly Grant: GrantView;
  readonly users: UserView;
}

/** Answers of operations that are no resources, by path. */
interface Operations {
  readonly '/AccessPolicy/$explain': Explanation;
  readonly '/AccessPolicy/$usage': PolicyUsage;
}

/** One page of a search. */
interface Bundle<Resource> {
  readonly total?: number;
  readonly link: readonly Link[];
  readonly entry: readonly { readonly resource: Resource }[];
}

/** Path without its query. */
type WithoutQuery<Path extends string> = Path extends `${infer Before}?${string}` ? Before : Path;

/** Body of a list: users are always a plain list, other resources if the query says so. */
type ListAt<Name extends keyof Resources, Path extends string> = Name extends 'users'
  ? readonly ListedUser[]
  : Path extends `${string}_result=array${string}`
    ? readonly Resources[Name][]
    : Bundle<Resources[Name]> | readonly Resources[Name][];

/** Body of an answer by the path without its query, which may be a template such as `/users/${string}`. */
type BodyAt<Method extends string, Path extends string, Whole extends string> = Path extends keyof Operations
  ? Operations[Path]
  : Path extends `/${infer Name}/${string}`
    ? Name extends keyof Resources
      ? // A DELETE of what is not there has no body.
        Method extends 'DELETE'
        ? Resources[Name] | undefined
        : Resources[Name]
      : unknown
    : Path extends `/${infer Name}`
      ? Name extends keyof Resources
        ? Method extends 'GET'
          ? ListAt<Name, Whole>
          : Resources[Name]
        : unknown
      : unknown;

/**
 * Body of the answer to an accepted request, from its method and path; `unknown` for a path that is not known when it
 * is compiled. The schemas are those of the OpenAPI document, with which every response of the tests is compared.
 */
export type AnswerTo<Method extends string, Path extends string> = BodyAt<Method, WithoutQuery<Path>, Path>;

/** Body of a 422: every fault of what was sent. */
export type FaultsAt<Path extends string> = Path extends `/users${string}` ? UserFaults : OperationOutcome;
