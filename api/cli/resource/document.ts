import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { isObject, type JsonObject } from '../../../crds/json-value.ts';
import { plainText } from '../../../process/plain-text.ts';
import { fileReason, usageError } from '../cli-error.ts';
import type { Invocation } from '../command.ts';

/** The option that names a document, for commands that take one. */
export const FILE_OPTION = {
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
  const fields = await parsed(content, name);
  if (isObject(fields)) return fields;
  throw usageError(`${name} must hold one object, as JSON or YAML`);
}

/** Returns the only document of a text; undefined if there are several. Throws CliError with the line of a fault. */
async function parsed(content: string, name: string): Promise<unknown> {
  const { Unreadable, yamlDocuments } = await import('../../client/manifest/yaml-documents.ts');
  try {
    const [document, another] = [...yamlDocuments(content)];
    return another === undefined ? document?.content : undefined;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw usageError(`${name}:${String(error.line)}: ${plainText(error.message)}`);
  }
}

/** Returns a document with the fields of options in it. Objects are merged; any other value is replaced. */
export function merged(document: JsonObject, fields: JsonObject): JsonObject {
  const changed = Object.entries(fields).map(([name, value]) => {
    const present = document[name];
    return [name, isObject(present) && isObject(value) ? merged(present, value) : value] as const;
  });
  return { ...document, ...Object.fromEntries(changed) };
}
