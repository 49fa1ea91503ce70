import type { ServerResponse, IncomingMessage } from 'node:http';
import type { PageProblem } from '../../pages/messages.ts';
import type { RefusalDetails } from '../../schemas/refusals.ts';
import type { Origin } from '../../audit/audit-trail.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';

/** The error shape of an endpoint. */
export type ErrorShape = 'oauth' | 'resource' | 'plain' | 'page';

/** Data of one request in addition to the request itself. */
export interface RequestContext {
  readonly requestId: string;
  /** `performance.now()` at its start. */
  readonly started: number;
  readonly remoteAddr: string;
  /** Network of `remoteAddr`, which shares of resources are counted by. */
  readonly network: string;
  /** The box it addresses; empty until that is known. */
  box: string;
  /** The path below the box. */
  path: string;
  /** Number of times that it began again, because its box had been moved to another database. */
  moves: number;
  /** The route's pattern, for metrics and logs: never a part of the request. */
  route: string;
  /** The request target as received: unlike `path`, it does not depend on whether its box exists. */
  readonly target: string;
  shape: ErrorShape;
  /** The client that sent it, once authenticated. */
  client: string | undefined;
  /** The policy that granted it. */
  policy: string | undefined;
  /** The origin of another site whose scripts may read the answer; undefined: none. */
  allowedOrigin: string | undefined;
  /** The code of the error it was refused with. */
  error: string | undefined;
  /** The reason of its refusal, for the log and the audit trail. */
  refusal: RefusalDetails | undefined;
  /** The page that tells a person about its refusal, where the status does not select one. */
  page: PageProblem | undefined;
  /** A sentence for a developer about the reason; never set in production. */
  advice: string | undefined;
}

const key: unique symbol = Symbol('request context');

/** A response with its request context: a separate WeakMap costs the garbage collector more. */
interface Carrier {
  [key]?: RequestContext;
}

/** Stores the context of the request of a response. */
export function setRequestContext(response: ServerResponse & Carrier, requestContext: RequestContext): void {
  response[key] = requestContext;
}

/** Returns the request context of a response; undefined if it failed before it had one. */
export function findRequestContext(response: ServerResponse & Carrier): RequestContext | undefined {
  return response[key];
}

/** Returns the request context of a response; throws a TypeError if there is none, which is a programming error. */
export function requestContextOf(response: ServerResponse & Carrier): RequestContext {
  const requestContext = response[key];
  if (requestContext === undefined) throw new TypeError('a response without its request context');
  return requestContext;
}

/** Returns the function that sets why a request was refused. */
export function refusing(requestContext: RequestContext): (details: RefusalDetails) => void {
  return (details) => {
    requestContext.refusal = details;
  };
}

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

/** A request as its records name it; the address is undefined if it is unknown. */
interface RequestOrigin {
  readonly remoteAddr: string | undefined;
  readonly requestId?: string | undefined;
}

/** Returns the origin of an event: the subject of the token, if there is one, and the request. */
export function originOf({ remoteAddr, requestId }: RequestOrigin, session: LiveSession | undefined): Origin {
  const [client, user] = [session?.client.id, session?.user?.id];
  return { client, user, remoteAddr, session: session?.id, requestId };
}
