import type { Client } from '../../../crds/client.ts';
import type { Box } from '../../../crds/box.ts';
import { FIRST_GRANTS } from '../../db/session/record.ts';
import type { Person } from '../../db/user.ts';
import { clientOf } from '../../oauth/built-in-clients.ts';
import { mayUseGrant, subjectOfGrant } from '../../oauth/session/still-granted.ts';
import { decide } from '../../policy/decide.ts';
import type { CompiledPolicy } from '../../policy/compile.ts';
import type { Subject } from '../../policy/policy-index.ts';
import { requestObject } from '../../policy/request-object.ts';
import type { RequestParts } from '../../policy/request-object.ts';
import { Problem } from '../../problem.ts';
import type { DecidingState } from '../../box/planned-state.ts';
import { subjectFor } from '../resources/explain.ts';
import { explainedSubject, explainedToken } from '../resources/explained-request.ts';
import type { PlanFacts, PlannedUser, ReadyRequest } from './plan-facts.ts';

/** State and facts under which requests are decided: those before a plan, or those after it. */
export interface Deciding {
  readonly state: DecidingState;
  readonly facts: PlanFacts;
  readonly issuer: string;
}

/**
 * Decides a request with the functions that decide real ones; returns the policy that grants it, undefined if none
 * does. A caller who could have no token is denied. Yields between pieces of work that take long.
 */
export function* plannedDecision(request: ReadyRequest, deciding: Deciding): Generator<undefined, string | undefined> {
  const caller = callerOf(request, deciding);
  if (caller === undefined) return undefined;
  const { candidates, parts } = caller;
  for (const candidate of candidates) {
    if (candidate.isCompiled) continue;
    candidate.compile();
    yield undefined;
  }
  return decide(candidates, requestObject(parts)).policy;
}

/** Checks whether the caller of a request could have a token that is accepted. */
export function canCall(request: ReadyRequest, deciding: Deciding): boolean {
  return callerOf(request, deciding) !== undefined;
}

interface DecidedCaller {
  readonly candidates: readonly CompiledPolicy[];
  readonly parts: RequestParts;
}

/** Returns the caller as policies see it; undefined if it could have no token that is accepted. */
function callerOf(request: ReadyRequest, { state, facts, issuer }: Deciding): DecidedCaller | undefined {
  const { app, token, time } = request;
  const client = request.client === undefined ? undefined : clientOf(state, request.client, issuer)?.client;
  const person = request.user === undefined ? null : personOf(request.user, facts);
  const isUnknown = (request.client !== undefined && client === undefined) || person === undefined;
  if (isUnknown || state.settings.active === false) return undefined;
  if (client !== undefined && !mayHaveToken(client, state.settings, person !== null)) return undefined;
  const subject = acceptedSubject({ ...request, client: client?.id }, person, state, issuer);
  if (subject === undefined) return undefined;
  const whole = client && { ...facts.clients.get(client.id), ...client };
  return {
    candidates: state.policies.candidates(subject, app),
    parts: {
      ...request.parts,
      box: state.box,
      time,
      ...explainedSubject(token, whole, person, { issuer, now: time * 1000 }),
    },
  };
}

/** Returns the user of a request; undefined if there is none, or no such group. */
function personOf(user: PlannedUser, { persons, groups }: PlanFacts): Person | undefined {
  if (user === 'any') return anybody;
  if ('id' in user) return persons.get(user.id);
  const group = groups.get(user.group);
  return group && { ...anybody, groups: [group] };
}

/** Some user: policies that look at more than the groups of a user see nothing. */
const anybody: Person = { id: 0, email: '', email_verified: null, data: null, groups: null };

/** Checks whether a client can have a token of its own, or of a user. */
function mayHaveToken(client: Client, settings: Box, isUsers: boolean): boolean {
  if (client.active === false) return false;
  const grants = FIRST_GRANTS.filter((grant) => (subjectOfGrant(grant) === 'client') !== isUsers);
  return grants.some((grant) => mayUseGrant(grant, client, settings));
}

/** Returns the subject of a request; undefined for a token that is not accepted there. */
function acceptedSubject(
  { app, client, token }: Pick<ReadyRequest, 'app' | 'client' | 'token'>,
  user: Person | null,
  state: DecidingState,
  issuer: string,
): Subject | undefined {
  try {
    return subjectFor(app, { ...explainedToken(token, user !== null), client, user }, state, issuer);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
