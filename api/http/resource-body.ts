import type { IncomingMessage } from 'node:http';
import { Problem } from '../problem.ts';
import { bodyLimits, readBody } from './read-body.ts';
import { parseBody } from './resources/parse-body.ts';

const withBody: ReadonlySet<string | undefined> = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Reads the body of a request to a resource; what it gives parses it when it is called first. What is wrong with a body
 * is the Problem that it returns, for that is told to those only who may send one, once the policies have granted.
 */
export async function readResourceBody(request: IncomingMessage): Promise<() => unknown> {
  if (!withBody.has(request.method)) return () => undefined;
  const bytes = await orProblem(() => readBody(request, bodyLimits.resource));
  let parsed: { readonly value: unknown } | undefined;
  return () => {
    parsed ??= { value: bytes instanceof Problem ? bytes : parse(request.headers['content-type'], bytes) };
    return parsed.value;
  };
}

async function orProblem<T>(work: () => Promise<T>): Promise<T | Problem> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function parse(contentType: string | undefined, bytes: Buffer): unknown {
  try {
    return parseBody(contentType, bytes);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
