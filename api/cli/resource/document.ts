import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { isObject, type JsonObject } from '../../../crds/json-value.ts';
import { plainText } from '../../../process/plain-text.ts';
import { fileReason, usageError } from '../cli-error.ts';
import type { Invocation } from '../command.ts';

/** The option that names a document, for commands that take one. */
export const FILE_OPTION = {
  file: { type: 'string', value: '<file>', summary: 'fields as JSON or YAML; - reads standard input' },
} as const;

/** Returns the fields in the file of `--file`; none without it. Throws CliError if it holds no object. */
export async function documentOf({ values, terminal }: Pick<Invocation, 'values' | 'terminal'>): Promise<JsonObject> {
  const { file } = values;
  if (typeof file !== 'string') return {};
  const content = await (file === '-' ? text(terminal.input) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw usageError(`${plainText(file)} cannot be read: ${fileReason(error)}`);
  });
  const fields = await parsed(content, file);
  if (isObject(fields)) return fields;
  throw usageError(`${plainText(file)} must hold one object, as JSON or YAML`);
}

async function parsed(content: string, file: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(content);
    return value;
  } catch (error) {
    throw usageError(`${plainText(file)} is not YAML: ${error instanceof Error ? plainText(error.message) : ''}`);
  }
}
