import type { ServerResponse } from 'node:http';
import { quotaSentence } from '../../../crds/quota.ts';
import { Problem } from '../../problem.ts';
import type { InFlight } from '../../shares/in-flight.ts';
import { requestContextOf } from '../request/request-context.ts';

/** Seconds: another request of the box may end at any time. */
const retryAfter = '1';

/**
 * Counts a request of its box until the response is closed. Returns false without counting it if its caller has hung up
 * already: it would never be closed again. Throws Problem `throttled` beyond the quota, `most`.
 */
export type CountInFlight = (response: ServerResponse, most: number) => boolean;

/** Creates the counter of requests on the public port. It adds one listener to each response, the same to all. */
export function countingInFlight(inFlight: InFlight): CountInFlight {
  function leave(this: ServerResponse): void {
    inFlight.leave(requestContextOf(this).box);
  }

  return (response, most) => {
    if (response.destroyed) return false;
    if (!inFlight.enter(requestContextOf(response).box, most)) {
      const message = `The request ${quotaSentence('requests', most)}`;
      throw new Problem('throttled', message, { 'Retry-After': retryAfter });
    }
    response.on('close', leave);
    return true;
  };
}
