import type { ServerResponse } from 'node:http';
import { quotaSentence } from '../../crds/quota.ts';
import { Problem } from '../problem.ts';
import type { InFlight } from '../shares/in-flight.ts';

/** Seconds: another request of the box ends at any time. */
const retryAfter = '1';

/** Counts a request of a box until its response is closed. Throws Problem `throttled` beyond the quota of the box. */
export function countInFlight(inFlight: InFlight, box: string, most: number, response: ServerResponse): void {
  const leave = inFlight.enter(box, most);
  if (leave === undefined) {
    const message = `The request ${quotaSentence('requests', most)}`;
    throw new Problem('throttled', message, { 'Retry-After': retryAfter });
  }
  response.once('close', leave);
}
