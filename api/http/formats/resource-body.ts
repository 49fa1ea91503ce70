import type { IncomingMessage } from 'node:http';
import { Problem } from '../../problem.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';
import { parseBody } from './parse-body.ts';

const withBody: ReadonlySet<string | undefined> = new Set(['POST', 'PUT', 'PATCH']);

/** The body of a request to a resource: read on demand, and once. */
export interface ResourceBody {
  readonly isRead: boolean;
  /**
   * Reads and parses it. A fault in it is returned as a Problem: only callers who may send a body see it,
   * after the policies have granted. Throws Problem `throttled`: without the body there is no decision.
   */
  read(): Promise<unknown>;
}

/** Returns the body of a request to a resource; undefined if its method has none. */
export function resourceBody(request: IncomingMessage): ResourceBody | undefined {
  if (!withBody.has(request.method)) return undefined;
  let reading: Promise<unknown> | undefined;
  return {
    get isRead() {
      return reading !== undefined;
    },
    read() {
      reading ??= orProblem(async () => {
        const bytes = await readBody(request, bodyLimits.resource);
        return parseBody(request.headers['content-type'], bytes, request.method);
      });
      return reading;
    },
  };
}

async function orProblem(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'throttled') throw error;
    return error;
  }
}

/**
 * Decides about a request and reads its body. A body that had not arrived when it was decided without it may take as
 * long as its sender likes, and the right may be withdrawn by then: it is decided again. Throws the errors of both.
 */
export async function decideWithBody<T>(
  request: IncomingMessage,
  body: ResourceBody | undefined,
  decide: () => Promise<T>,
): Promise<T> {
  const decision = await decide();
  if (body === undefined || body.isRead) return decision;
  const isLate = !request.complete;
  await body.read();
  return isLate ? decide() : decision;
}
