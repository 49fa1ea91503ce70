import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { Unreadable, yamlDocuments } from '../../client/manifest/yaml-documents.ts';
import { isList, isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { plainText } from '../../../program/text.ts';
import { usageError } from '../cli-error.ts';
import { textOf } from '../declared-folder.ts';

/** Names of the file with requests in a folder. */
const names = ['requests.yaml', 'requests.yml', 'requests.json'] as const;

/**
 * Reads the requests of a folder's `requests.yaml`, or of `file`: a list of questions as `$explain` takes them, in
 * which a caller may be a `group`. Empty if there is no such file. Throws CliError.
 */
export function givenRequests(folder: string, file: string | undefined): readonly JsonObject[] {
  const found = file ?? fileIn(folder);
  if (found === undefined) return [];
  const requests = parsed(found);
  if (!isList(requests)) throw usageError(`${plainText(found)} must be a list of requests`);
  return requests.map((request, index) => {
    if (isObject(request) && isObject(request['request'])) return request;
    const place = `${plainText(found)}: entry ${String(index + 1)}`;
    throw usageError(`${place} must have a \`request\` with \`request-method\` and \`uri\``);
  });
}

function fileIn(folder: string): string | undefined {
  if (!statSync(folder).isDirectory()) return undefined;
  return names.map((name) => path.join(folder, name)).find((file) => existsSync(file));
}

function parsed(file: string): unknown {
  try {
    const [document, another] = [...yamlDocuments(textOf(file))];
    return another === undefined ? document?.content : undefined;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw usageError(`${plainText(file)}:${String(error.line)}: ${plainText(error.message)}`);
  }
}
