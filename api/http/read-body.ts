import type { IncomingMessage } from 'node:http';
import { Problem } from '../problem.ts';

/** Bytes a request to the token endpoint may have, and one to a resource. */
export const bodyLimits = { oauth: 16_384, resource: 1_048_576 } as const;

/** Bytes beyond a limit that are still taken: a socket closed with some unread is reset, and the answer lost with it. */
const passedOver = 262_144;

/**
 * Reads a body of at most `limit` bytes. Throws Problem `too-large`, or `unsupported-media-type` when it is compressed:
 * a bomb is never inflated. The connection of a body that is too large is closed by the answer.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity') {
    request.resume();
    return Promise.reject(
      new Problem('unsupported-media-type', 'Content-Encoding is not accepted: send the body as it is'),
    );
  }
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit + passedOver) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else chunks.length = 0;
      if (length > limit + passedOver) {
        request.pause();
        reject(tooLarge(limit));
      }
    });
    request.on('end', () => {
      const [only] = chunks;
      if (length > limit) reject(tooLarge(limit));
      else resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length));
    });
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new Problem('bad-request', 'The request ended before its body did'));
    });
  });
}

function tooLarge(limit: number): Problem {
  return new Problem('too-large', `The body is larger than ${String(limit)} bytes`, { Connection: 'close' });
}
