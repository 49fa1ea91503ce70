import type { ApplyResult } from '../../client/desired-state.ts';
import type { PlanAnswer, PlannedChange, PlannedDecision, PlannedEnd } from '../../schemas/plan.ts';
import { inBox } from '../../db/core/transaction.ts';
import { readRequests } from '../../db/request/recorded-request.ts';
import type { SessionRecord } from '../../db/session/record.ts';
import { uuidV7Time } from '../../db/core/uuid-v7.ts';
import { clientOf } from '../../oauth/built-in-clients.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import { stillGranted } from '../../oauth/session/still-granted.ts';
import { nothingHere, Problem } from '../../problem.ts';
import { dryRun } from '../../apply/dry-run.ts';
import type { DryRun } from '../../apply/dry-run.ts';
import { planKey, plannedLines, readStoredRows } from '../../apply/planned-lines.ts';
import type { PlannedLines, StoredRows, IsStoredSecret } from '../../apply/planned-lines.ts';
import { plannedState } from '../../box/planned-state.ts';
import { createTurns } from '../../../program/scheduling.ts';
import { changedDecisions, givenRequest, recordedRequest } from './compared-requests.ts';
import type { ComparedRequest } from './compared-requests.ts';
import type { PlanBody } from './plan-body.ts';
import { callersOf, readFacts } from './plan-facts.ts';
import type { PlanFacts } from './plan-facts.ts';
import type { Deciding } from './planned-decision.ts';

/** Dependencies of a plan. */
export interface Planning {
  readonly box: string;
  readonly services: OAuthServices;
  readonly isStored: IsStoredSecret;
}

/** Attempts at a plan while the configuration of the box changes. */
const mostRounds = 3;

/**
 * Computes the effect of a desired state. Throws Problem, also `conflict` for a box that keeps changing, and Outage.
 */
export async function makePlan(body: PlanBody, planning: Planning): Promise<PlanAnswer> {
  const { box, services, isStored } = planning;
  const requests = await requestsOf(body, planning);
  const recorded = requests.filter(({ recordedPolicy }) => recordedPolicy !== undefined).length;
  const compared = { given: requests.length - recorded, recorded };
  for (let round = 0; round < mostRounds; round += 1) {
    const stored = await readStoredRows(services.pool, box, body.objects, isStored);
    const lines = await plannedLines(body.objects, stored);
    const effect = lines.lines.length === 0 ? noEffect : await effectOf(lines, stored, requests, planning);
    if (effect === undefined) continue;
    const { resources, ...others } = effect;
    const secrets_not_compared = stored.notCompared;
    return { box, resources: [...body.refused, ...resources], ...others, secrets_not_compared, compared };
  }
  throw new Problem('conflict', 'The configuration of the box keeps changing; try again');
}

type Effect = Pick<PlanAnswer, 'resources' | 'secrets' | 'sessions' | 'more_sessions' | 'decisions'>;

const noEffect: Effect = { resources: [], secrets: [], sessions: [], more_sessions: false, decisions: [] };

/** Returns the requests to compare: those of the call, then those of the record. */
async function requestsOf({ requests }: PlanBody, { box, services }: Planning): Promise<readonly ComparedRequest[]> {
  const given: ComparedRequest[] = [];
  for (const request of requests) given.push(await givenRequest(request, box, services));
  const recorded = await inBox(services.pool, box, 'snapshot', (connection) => readRequests(connection, box));
  const now = services.now();
  return [...given, ...recorded.flatMap((one) => recordedRequest(one, now) ?? [])];
}

/** Returns the effect of lines; undefined if the configuration of the box changed meanwhile. */
async function effectOf(
  lines: PlannedLines,
  stored: StoredRows,
  requests: readonly ComparedRequest[],
  { box, services }: Planning,
): Promise<Effect | undefined> {
  const callers = callersOf(requests);
  const run = await dryRun(lines, stored, (connection) => readFacts(connection, box, callers), services);
  const held = await services.states.decide(box, (state) => Promise.resolve(state));
  if (run === undefined || held === undefined) throw nothingHere();
  if (held.version !== run.version) return undefined;
  const planned = await plannedState(held, run.changes, services.states.blank(box));
  const before = { state: held, facts: run.before, issuer: services.issuer(held) };
  const after = { state: planned, facts: run.after, issuer: services.issuer(planned) };
  const decisions = await decisionsOf(requests, before, after, run);
  // Read in slices, between which the state may have moved on.
  if (held.version !== run.version) return undefined;
  const changes = changesOf(run.results, lines);
  return {
    resources: changes,
    secrets: changes.flatMap(({ kind, id, fields = [] }) =>
      kind === 'Client' && fields.includes('secret') ? [id] : [],
    ),
    sessions: endsOf(run, before, after),
    more_sessions: run.moreSessions,
    decisions,
  };
}

/** Milliseconds for which requests are decided. */
const longestDeciding = 20_000;

async function decisionsOf(
  requests: readonly ComparedRequest[],
  before: Deciding,
  after: Deciding,
  run: DryRun<PlanFacts>,
): Promise<readonly PlannedDecision[]> {
  const policies = {
    before: new Set(Array.from(before.state.policies.all(), ({ id }) => id)),
    touched: new Set(
      [...run.changes.changed, ...run.changes.deleted].flatMap(({ kind, id }) => (kind === 'AccessPolicy' ? [id] : [])),
    ),
  };
  const deadline = performance.now() + longestDeciding;
  const turn = createTurns();
  const deciding = changedDecisions(requests, before, after, policies);
  for (let next = deciding.next(); ; next = deciding.next()) {
    if (next.done === true) return next.value;
    if (performance.now() > deadline)
      throw new Problem('too-large', `The decisions take more than ${String(longestDeciding / 1000)} s`);
    await turn();
  }
}

function changesOf(results: readonly ApplyResult[], { fields }: PlannedLines): readonly PlannedChange[] {
  return results.flatMap((result) => {
    const { kind, id, faults, detail } = result;
    const name = resultNames[result.result];
    if (name === undefined) return [];
    const changed = name === 'changed' ? { fields: fields.get(planKey(result)) ?? [] } : {};
    const optional = { ...(faults === undefined ? {} : { faults }), ...(detail === undefined ? {} : { detail }) };
    return [{ kind, id, result: name, ...changed, ...optional }];
  });
}

const resultNames: Readonly<Record<ApplyResult['result'], PlannedChange['result'] | undefined>> = {
  created: 'created',
  updated: 'changed',
  deleted: 'deleted',
  retained: 'released',
  conflict: 'conflict',
  invalid: 'invalid',
  unchanged: undefined,
  absent: undefined,
  needed: undefined,
  undeclared: undefined,
};

/** Returns the active sessions that end: revoked ones, and those whose client may no longer have such a token. */
function endsOf(run: DryRun<PlanFacts>, before: Deciding, after: Deciding): readonly PlannedEnd[] {
  const left = run.active.filter((session) => isGranted(session, before) && !isGranted(session, after));
  return [...run.revoked.filter((session) => isGranted(session, before)), ...left].map(({ id, client, user }) => ({
    id,
    client,
    ...(user === undefined ? {} : { user }),
    created_at: new Date(uuidV7Time(id)).toISOString(),
  }));
}

/** Checks whether the client of a session may have its token, as each check of the token does. */
function isGranted({ client, user, type, scope, audience }: SessionRecord, deciding: Deciding): boolean {
  const { state, issuer } = deciding;
  const owner = clientOf(state, client, issuer);
  if (owner === undefined || owner.client.active === false || state.settings.active === false) return false;
  // A refreshed session does not name the grant of its family.
  const grant = type === 'r' ? (user === undefined ? 'c' : 'a') : type;
  const issued = { grant, scope: scope ?? null, audience: audience ?? null };
  return stillGranted(issued, owner, state.settings, issuer) !== undefined;
}
