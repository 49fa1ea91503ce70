import type { ServerResponse } from 'node:http';
import { quotaSentence } from '../../../crds/quota.ts';
import { Problem } from '../../problem.ts';
import type { InFlight } from '../../shares/in-flight.ts';
import { CHECK_PATH } from '../gateway/original-request.ts';
import { requestContextOf } from '../request/request-context.ts';
import type { ApiContext } from './api-context.ts';
import { isBelow } from './endpoint.ts';

/** Seconds: another request of the box may end at any time. */
const retryAfter = '1';

const SHARE_USED_UP = 'Too many requests from this address are in flight in this box. Try again in 1 s';

/**
 * Creates the middleware that counts a request of its box until the response is closed. It ends a request whose caller
 * has hung up already, which would never be closed again. Throws Problem `throttled` beyond the quota of the box, or
 * beyond the share of the caller's network. A request to `/auth/check` is counted by its endpoint.
 */
export function countingInFlight({ inFlight, oauth }: Pick<ApiContext, 'inFlight' | 'oauth'>) {
  // One listener, the same for all responses.
  function leave(this: ServerResponse): void {
    const { box, network } = requestContextOf(this);
    inFlight.leave(box, network);
  }

  return (_request: unknown, response: ServerResponse, next: () => void): void => {
    if (response.destroyed) return;
    const { box, network, path } = requestContextOf(response);
    if (!isBelow(path, CHECK_PATH)) {
      enterShare(inFlight, { box, sharer: network, most: oauth.states.quota(box).requests }, SHARE_USED_UP);
      response.on('close', leave);
    }
    next();
  };
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
