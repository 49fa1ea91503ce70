import type { IncomingMessage } from 'node:http';
import { Problem } from '../../problem.ts';
import { bodyLimits, readBody } from '../request/read-body.ts';

/**
 * Reads a form that another site may have sent, as the query of the same request by GET, in ASCII: bytes beyond it are
 * percent-encoded. A form of another site sends no cookie. Throws Problem `unsupported-media-type`, `too-large`.
 */
export async function readPostedQuery(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, bodyLimits.oauth);
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new Problem('unsupported-media-type', 'Content-Type must be application/x-www-form-urlencoded');
  }
  return body.toString('latin1').replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
}
