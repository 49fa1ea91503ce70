import { authorize } from '../access/authorize.ts';
import { bearerToken } from '../access/authenticate.ts';
import { originOf, requestContextOf } from '../request/request-context.ts';
import { queryOf } from '../request/query.ts';
import { refuseParameters } from '../../records/search/parameters.ts';
import { createFairQueue } from '../../shares/fair-queue.ts';
import type { ApiContext } from '../server/api-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import { personal, sendJson } from '../server/send.ts';
import { makePlan } from './make-plan.ts';
import { parsePlan, readPlanBytes } from './plan-body.ts';
import type { Origin } from '../../audit/audit-trail.ts';
import { Problem } from '../../problem.ts';
import type { IsStoredSecret } from '../../apply/planned-lines.ts';
import { SecretGuess } from '../throttle/secret-guess.ts';

/** Chosen secrets that are compared in one plan: each takes argon2. */
const mostChosen = 50;

type Caller = Origin & { readonly remoteAddr: string };

/**
 * Returns the comparison of a given secret with the stored ones, undefined where too many were wrong before. A wrong
 * one counts, and is recorded, as a failed attempt of its address at the client: nobody gets more guesses by a plan
 * than at the token endpoint.
 */
function comparingSecrets({ oauth, throttle, secretLimits }: ApiContext, box: string, caller: Caller): IsStoredSecret {
  const address = caller.remoteAddr;
  let chosen = 0;
  return async (client, stored, secret) => {
    if (stored.length === 0) return false;
    if (!throttle.secrets.allows(box, client, address)) return undefined;
    if (stored.some((one) => one.startsWith('$argon2'))) chosen += 1;
    if (chosen > mostChosen) return undefined;
    const guess = new SecretGuess(secretLimits, { box, client, address });
    try {
      if ((await oauth.secrets.verify(stored, secret, guess)) !== undefined) return true;
      await guess.failed();
      const event = { event: 'client.authentication_failed', result: 'failure', target: `Client/${client}` } as const;
      oauth.countedEvents.note({ box, ...event, reason: 'wrong_secret', origin: caller });
      return false;
    } catch (error) {
      if (error instanceof Problem && error.details?.reason === 'too_many_secrets') return undefined;
      throw error;
    } finally {
      guess.end();
    }
  };
}

/** A box computes one plan at a time, and a replica two. */
const planLimits = { places: 2, mostOfOne: 1, isFixed: true, waiting: 20, patience: 5_000 };

/**
 * `POST /$plan`: the effect of a desired state on the box, which it does not change. Its policies see no body, because
 * they decide before it is read.
 */
export function planEndpoint(context: ApiContext): Endpoint {
  const plans = createFairQueue({ resource: 'plans', noun: 'a plan' }, planLimits);
  return async (request, response) => {
    const requestContext = requestContextOf(response);
    const { box, path, remoteAddr, requestId } = requestContext;
    const query = queryOf(path);
    const token = bearerToken(request, query, box); //        RFC 6750 §2.1
    const resource = { resourceType: 'Box' } as const;
    const asked = { box, request, path, query, remoteAddr, requestId, resource, readRest: undefined };
    let granted = await authorize(token, asked, context.oauth);
    refuseParameters(query);
    const isLate = !request.complete;
    const bytes = await readPlanBytes(request);
    // The body may have taken as long as its sender liked, and the grant may be withdrawn by now.
    if (isLate) granted = await authorize(token, asked, context.oauth);
    requestContext.client = granted.session?.client.id;
    requestContext.policy = granted.policy;
    const sharer = { box, member: requestContext.client ?? requestContext.network };
    const answer = await plans.run(sharer, async () => {
      const body = await parsePlan(bytes);
      const caller = { ...originOf(requestContext, granted.session), remoteAddr };
      const isStored = comparingSecrets(context, box, caller);
      return makePlan(body, { box, services: context.oauth, isStored });
    });
    sendJson(response, answer, context.onAnswer, personal);
  };
}
