import type { IncomingMessage } from 'node:http';
import type { ResourceBody } from '../formats/resource-body.ts';

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
