import type { ServerResponse } from 'node:http';
import { quotaSentence } from '../../../crds/quota.ts';
import { Problem } from '../../problem.ts';
import type { InFlight } from '../../shares/in-flight.ts';
import { CHECK_PATH } from '../gateway/original-request.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { RequestContext } from '../request/request-context.ts';

/** Seconds: another request of the box may end at any time. */
const retryAfter = '1';

const SHARE_USED_UP = 'Too many requests from this address are in flight in this box. Try again in 1 s';

/**
 * Counts a request of its box until the response is closed. Returns false without counting it if its caller has hung up
 * already: it would never be closed again. Throws Problem `throttled` beyond the quota, `most`, or beyond the share of
 * the caller's network.
 */
export type CountInFlight = (response: ServerResponse, most: number) => boolean;

/** Returns the network that a request counts for; undefined at `/auth/check`: a gateway asks for all of its callers. */
function sharerOf({ network, path }: Pick<RequestContext, 'network' | 'path'>): string | undefined {
  return path.startsWith(CHECK_PATH) ? undefined : network;
}

/** Creates the counter of requests on the public port. It adds one listener to each response, the same to all. */
export function countingInFlight(inFlight: InFlight): CountInFlight {
  function leave(this: ServerResponse): void {
    const context = requestContextOf(this);
    inFlight.leave(context.box, sharerOf(context));
  }

  return (response, most) => {
    if (response.destroyed) return false;
    const context = requestContextOf(response);
    const entered = inFlight.enter(context.box, sharerOf(context), most);
    if (entered !== 'entered') {
      const message = entered === 'quota' ? `The request ${quotaSentence('requests', most)}` : SHARE_USED_UP;
      throw new Problem('throttled', message, { 'Retry-After': retryAfter });
    }
    response.on('close', leave);
    return true;
  };
}
