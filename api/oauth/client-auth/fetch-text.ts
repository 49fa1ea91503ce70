import type { IncomingMessage } from 'node:http';
import { http } from '../../client/node-http.ts';
import { textWithin } from '../../../process/text-within.ts';

/** Milliseconds from the call to the end of the answer, so that a waiting request is answered within two seconds. */
const patience = 1_500;
/** Bytes. */
const longest = 64 * 1024;

/**
 * Fetches the text at an address by one GET: no redirect is followed, nothing is sent along, at most 64 KB and 1.5
 * seconds. Throws an Error of one sentence.
 */
export async function fetchText(url: URL): Promise<string> {
  const answer = await answerOf(url, AbortSignal.timeout(patience));
  try {
    if (answer.statusCode !== 200) throw new Error(`the answer has status ${String(answer.statusCode)}`);
    return await textWithin(longest, answer, () => new Error(`the answer has more than ${String(longest)} bytes`));
  } finally {
    answer.destroy();
  }
}

function answerOf(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = { Accept: 'application/jwk-set+json, application/json' };
  // Loaded when it is needed, and without undici (see node-http.ts).
  const { request } = url.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
  return new Promise((resolve, reject) => {
    // The listener stays: an error after the answer has begun reaches the reader too, and must not be uncaught here.
    request(url, { headers, signal, agent: false }, resolve).on('error', reject).end();
  });
}
