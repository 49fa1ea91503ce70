import type { IncomingMessage, ServerResponse } from 'node:http';

/** The variable parts of a path, by name, decoded. */
export type PathParameters = Readonly<Record<string, string | readonly string[]>>;

/** Returns a variable part of a path; undefined if the path has none of this name. */
export function partOfPath(parameters: PathParameters, name: string): string | undefined {
  const part = parameters[name];
  return typeof part === 'string' ? part : undefined;
}

/** Checks whether a URL is a path, with or without a query, or lies below it. */
export function isBelow(url: string, path: string): boolean {
  return url.startsWith(path) && /^[/?]?$/.test(url.charAt(path.length));
}

/** The asynchronous handler of a route; an error that it throws becomes the answer. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse, path: PathParameters) => Promise<void>;
