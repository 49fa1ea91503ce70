import { isList, isObject, type JsonObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import type { BoxClient } from './box-client.ts';
import { CliError, EXIT, usageError, fileReason } from './cli-error.ts';
import type { Command, CommandOption, Invocation } from './command.ts';
import { COLUMNS, type Column } from '../schemas/columns.ts';
import { listAll, given } from './pages.ts';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

/** The option that names a document, for commands that take one. */
const FILE_OPTION = {
  file: { type: 'string', short: 'f', value: '<file>', summary: 'fields as JSON or YAML; - reads standard input' },
} as const;

/** Returns the fields in the file of `--file`; none without it. Throws CliError if it holds no object. */
export async function documentOf({ values, terminal }: Pick<Invocation, 'values' | 'terminal'>): Promise<JsonObject> {
  const { file } = values;
  if (typeof file !== 'string') return {};
  const name = file === '-' ? 'standard input' : plainText(file);
  const content = await (file === '-' ? text(terminal.input) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw usageError(`${name} cannot be read: ${fileReason(error)}`);
  });
  const fields = await onlyDocument(content, name);
  if (isObject(fields)) return fields;
  throw usageError(`${name} must hold one object, as JSON or YAML`);
}

/** Returns the only document of a text; undefined if there are several. Throws CliError with the line of a fault. */
export async function onlyDocument(content: string, name: string): Promise<unknown> {
  const { Unreadable, yamlDocuments } = await import('../client/manifest/yaml-documents.ts');
  try {
    const [document, another] = [...yamlDocuments(content)];
    return another === undefined ? document?.content : undefined;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw usageError(`${name}:${String(error.line)}: ${plainText(error.message)}`);
  }
}

/** Returns a document with the fields of options in it. Objects are merged; any other value is replaced. */
function merged(document: JsonObject, fields: JsonObject): JsonObject {
  const changed = Object.entries(fields).map(([name, value]) => {
    const present = document[name];
    return [name, isObject(present) && isObject(value) ? merged(present, value) : value] as const;
  });
  return { ...document, ...Object.fromEntries(changed) };
}

/** A kind of resource that has an ID of its creator's choice: clients and policies. */
export interface StoredKind {
  /** Word of the command: `client`. */
  readonly word: string;
  readonly kind: 'Client' | 'AccessPolicy';
  /** Its name in a sentence. */
  readonly noun: string;
  /** Columns of the list besides those of the kind. */
  readonly listColumns?: readonly Column[];
  /** Filters of the list: options by the name of the search parameter. */
  readonly filters: Readonly<Record<string, CommandOption>>;
  /** Options of the list that are no search parameters. */
  readonly listOptions?: Readonly<Record<string, CommandOption>>;
  /** Returns the records to print of those that the box lists; by default all of them, as they are. */
  readonly listed?: (found: readonly JsonObject[], invocation: Invocation) => Promise<readonly JsonObject[]>;
  /** Options that set fields, besides `--file`. */
  readonly fields: Readonly<Record<string, CommandOption>>;
  /** Returns the fields that the options set; others of the file stay, also within an object. */
  readonly fieldsOf: (invocation: Invocation) => Promise<JsonObject> | JsonObject;
  readonly examples: Readonly<Record<'list' | 'show' | 'new' | 'set' | 'delete', readonly string[]>>;
}

/** Returns the commands `list`, `show`, `new`, `set` and `delete` of a kind. */
export function storedCommands(of: StoredKind): readonly Command[] {
  return [listOf(of), showOf(of), newOf(of), setOf(of), deleteOf(of)];
}

function listOf({ word, kind, noun, filters, examples, ...more }: StoredKind): Command {
  const { listOptions = {}, listColumns = [], listed = (found) => Promise.resolve(found) } = more;
  return {
    name: `${word} list`,
    summary: `lists the ${noun === 'policy' ? 'policies' : `${noun}s`} of the box`,
    examples: examples.list,
    options: { ...filters, ...listOptions },
    arguments: [0, 0],
    async run(invocation) {
      const { values, terminal, box, print } = invocation;
      const search = { path: `/${kind}`, filters: given(values, Object.keys(filters)) };
      const found = await listAll(await box(), search, terminal);
      await print(await listed(found, invocation), 'table', [...COLUMNS[kind], ...listColumns]);
    },
  };
}

function showOf({ word, kind, noun, examples }: StoredKind): Command {
  return {
    name: `${word} show`,
    synopsis: '<id>',
    summary: `prints one ${noun}`,
    examples: examples.show,
    arguments: [1, 1],
    async run({ args: [id = ''], box, print }) {
      const client = await box();
      await print(await existing(client, kind, id, noun), 'yaml', COLUMNS[kind]);
    },
  };
}

function newOf({ word, kind, noun, fields, fieldsOf, examples }: StoredKind): Command {
  return {
    name: `${word} new`,
    synopsis: '<id> [options]',
    summary: `creates a ${noun}`,
    examples: examples.new,
    options: { ...fields, ...FILE_OPTION },
    arguments: [1, 1],
    async run(invocation) {
      const [id = ''] = invocation.args;
      const client = await invocation.box();
      const document = merged(await documentOf(invocation), await fieldsOf(invocation));
      const sent = { ...document, resourceType: kind, id };
      const { status, body } = await client.request('POST', `/${kind}`, { body: sent, expected: 409 });
      if (status === 409) throw taken(client, word, id);
      const sentence = `Created ${noun} ${plainText(id)} in the box ${client.box}.`;
      await confirmStored(invocation, { sentence, record: body, sent: document, columns: COLUMNS[kind] });
    },
  };
}

function setOf({ word, kind, noun, fields, fieldsOf, examples }: StoredKind): Command {
  return {
    name: `${word} set`,
    synopsis: '<id> [options]',
    summary: `changes fields of a ${noun}; null in a file removes a field`,
    examples: examples.set,
    options: { ...fields, ...FILE_OPTION },
    arguments: [1, 1],
    async run(invocation) {
      const [id = ''] = invocation.args;
      const body = merged(await documentOf(invocation), await fieldsOf(invocation));
      if (Object.keys(body).length === 0) throw usageError('nothing to change: give --file, or an option of a field');
      const client = await invocation.box();
      const answer = await client.request('PATCH', pathOf(kind, id), {
        body,
        type: 'application/merge-patch+json',
        expected: 404,
      });
      if (answer.status === 404) throw missing(client, noun, id);
      const sentence = `Changed ${noun} ${plainText(id)} in the box ${client.box}.`;
      await confirmStored(invocation, { sentence, record: answer.body, sent: body, columns: COLUMNS[kind] });
    },
  };
}

function deleteOf({ word, kind, noun, examples }: StoredKind): Command {
  const effect = kind === 'Client' ? ' and ends its sessions' : '';
  return {
    name: `${word} delete`,
    synopsis: '<id>',
    summary: `deletes a ${noun}${effect}, without asking again`,
    examples: examples.delete,
    hasNoRecord: true,
    arguments: [1, 1],
    async run({ args: [id = ''], terminal, box }) {
      const client = await box();
      const { status } = await client.request('DELETE', pathOf(kind, id));
      if (status === 204) throw missing(client, noun, id);
      terminal.output.write(`Deleted ${noun} ${plainText(id)} in the box ${client.box}.\n`);
    },
  };
}

/** Returns the error for a resource that is there already: what changes it. */
function taken({ box }: BoxClient, word: string, id: string): CliError {
  const name = plainText(id);
  const change = `\`boxctl ${word} set ${name} …\``;
  return new CliError(EXIT.refused, `there is a ${word} ${name} in the box ${box}: change it with ${change}`);
}

/** A document that the box has stored, and what to print about it. */
interface Stored {
  readonly sentence: string;
  readonly record: unknown;
  readonly sent: JsonObject;
  readonly columns: readonly Column[];
}

/** Prints a stored record with its warnings, and the secret that was generated for it: nothing shows that again. */
async function confirmStored(
  { values, terminal, confirm }: Invocation,
  { sentence, record, sent: { secret }, columns }: Stored,
): Promise<void> {
  const warnings = isObject(record) && isList(record['warnings']) ? record['warnings'] : [];
  for (const warning of warnings) terminal.messages.write(`boxctl: warning: ${plainText(String(warning))}\n`);
  const isGenerated = values['generate-secret'] === true && typeof secret === 'string';
  // As JSON and YAML it is a field of the record that is printed; a table has no column for it.
  if (isGenerated && values['output'] !== 'json' && values['output'] !== 'yaml') terminal.output.write(`${secret}\n`);
  await confirm(sentence, isGenerated && isObject(record) ? { ...record, secret } : record, columns);
}

async function existing(client: BoxClient, kind: string, id: string, noun: string): Promise<JsonObject> {
  const { status, body } = await client.request('GET', pathOf(kind, id), { expected: 404 });
  if (status !== 404 && isObject(body)) return body;
  throw missing(client, noun, id);
}

function pathOf(kind: string, id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`;
}

/** Returns the error for a resource that the box does not have. */
export function missing({ box }: Pick<BoxClient, 'box'>, noun: string, id: string): CliError {
  return new CliError(EXIT.refused, `there is no ${noun} ${JSON.stringify(id)} in the box ${box}`);
}
