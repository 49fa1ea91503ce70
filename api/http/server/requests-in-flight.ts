import type { ServerResponse } from 'node:http';
import { quotaSentence } from '../../../crds/quota.ts';
import { Problem } from '../../problem.ts';
import type { InFlight } from '../../shares/in-flight.ts';
import { CHECK_PATH } from '../gateway/original-request.ts';
import { requestContextOf } from '../request/request-context.ts';

/** Seconds: another request of the box may end at any time. */
const retryAfter = '1';

const SHARE_USED_UP = 'Too many requests from this address are in flight in this box. Try again in 1 s';

/**
 * Counts a request of its box until the response is closed. Returns false without counting it if its caller has hung up
 * already: it would never be closed again. Throws Problem `throttled` beyond the quota, `most`, or beyond the share of
 * the caller's network. A request to `/auth/check` is counted by its endpoint.
 */
export type CountInFlight = (response: ServerResponse, most: number) => boolean;

/** Creates the counter of requests on the public port. It adds one listener to each response, the same to all. */
export function countingInFlight(inFlight: InFlight): CountInFlight {
  function leave(this: ServerResponse): void {
    const { box, network } = requestContextOf(this);
    inFlight.leave(box, network);
  }

  return (response, most) => {
    if (response.destroyed) return false;
    const { box, network, path } = requestContextOf(response);
    if (isCheck(path)) return true;
    enterShare(inFlight, { box, sharer: network, most }, SHARE_USED_UP);
    response.on('close', leave);
    return true;
  };
}

function isCheck(path: string): boolean {
  return path.startsWith(CHECK_PATH) && /^[/?]?$/.test(path.charAt(CHECK_PATH.length));
}

/** A box, with its quota of requests, and one of those who share it. */
interface Share {
  readonly box: string;
  readonly sharer: string;
  readonly most: number;
}

/** Counts a request. Throws Problem `throttled`, with `usedUp` beyond the share, if it must not enter. */
export function enterShare(inFlight: InFlight, { box, sharer, most }: Share, usedUp: string): void {
  const entered = inFlight.enter(box, sharer, most);
  if (entered === 'entered') return;
  const message = entered === 'quota' ? `The request ${quotaSentence('requests', most)}` : usedUp;
  throw new Problem('throttled', message, { 'Retry-After': retryAfter });
}
