import type { IncomingMessage, ServerResponse } from 'node:http';

/** The variable parts of a path, by name, decoded. */
export type PathParameters = Readonly<Record<string, string | readonly string[]>>;

/** The asynchronous handler of a route; an error that it throws becomes the answer. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse, path: PathParameters) => Promise<void>;
