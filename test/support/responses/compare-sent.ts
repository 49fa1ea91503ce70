import { readFileSync } from 'node:fs';
import { isObject, parseJson } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import { comparisonWith } from './comparison.ts';
import { recordResponses } from './recorder.ts';
import { resultsIn } from './results.ts';

/** The variable that names the folder in which a process writes what it finds; without it nothing is compared. */
export const FOLDER = 'RESPONSES_FOLDER';

/** Compares every response that an API in this process sends with the OpenAPI document. */
export function compareSentResponses(): void {
  let compared: ReturnType<typeof comparing> | undefined;
  recordResponses((sent, route) => {
    const folder = process.env[FOLDER];
    if (folder === undefined) return;
    compared ??= comparing(folder);
    compared(sent, route);
  });
}

function comparing(folder: string): Parameters<typeof recordResponses>[0] {
  const { compare, described } = comparisonWith(readDocument());
  const results = resultsIn(folder);
  return (sent, route) => {
    // A router that a test makes of routes of its own is not the API.
    if (route !== '(none)' && !described.isRoute(route)) return;
    try {
      results.add(sent, compare(sent));
    } catch (error) {
      // The API is in the middle of its response: a mistake here must not become one of its own.
      const fault = `cannot be compared: ${error instanceof Error ? error.message : 'unknown reason'}`;
      results.add(sent, { name: undefined, faults: [fault] });
    }
  };
}

/** Reads the document that the API sends. */
export function readDocument(): JsonObject {
  const document = parseJson(
    readFileSync(new URL('../../../api/http/endpoints/openapi.json', import.meta.url), 'utf8'),
  );
  if (isObject(document)) return document;
  throw new Error('openapi.json is not a document');
}
