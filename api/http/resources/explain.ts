import type { Client } from '../../../crds/client.ts';
import { allows } from '../../../crds/compatibility.ts';
import { UI_CLIENT } from '../../../crds/reserved-ids.ts';
import type { Person } from '../../db/user.ts';
import { inBox } from '../../db/core/transaction.ts';
import { readPerson } from '../../db/user.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import { explain } from '../../policy/decide.ts';
import { withReasons, type DeniedRequest } from '../../policy/explain-denial.ts';
import type { Subject } from '../../policy/policy-index.ts';
import { compileAhead } from '../../policy/prepare.ts';
import { requestObject } from '../../policy/request-object.ts';
import type { RequestParts } from '../../policy/request-object.ts';
import { Problem } from '../../problem.ts';
import { refuseParameters } from '../../records/search/parameters.ts';
import type { Explanation } from '../../schemas/explanation.ts';
import type { BoxState } from '../../box/box-state.ts';
import { clientOf } from '../../oauth/built-in-clients.ts';
import { carriesUserRights } from '../../oauth/session/still-granted.ts';
import type { RestOfRequest } from '../access/authorize.ts';
import { subjectWith, appSubject } from '../access/session-parts.ts';
import { bodyFormat, demandBody } from '../formats/parse-body.ts';
import {
  EXPLAIN_PATH,
  PLAN_PATH,
  addressedBy,
  explainedAppRequest,
  explainedRequest,
  explainedSubject,
  explainedToken,
} from './explained-request.ts';
import { parseQuestion } from './question.ts';
import type { Question } from './question.ts';
import type { AskedRequest } from './explained-request.ts';
import type { AppToken } from '../access/session-parts.ts';
import { requestedChanges } from './requested-changes.ts';
import { resourceRoutes, userRoutes } from './resource-routes.ts';
import type { ResourceExchange, ResourceHandler } from './resource-exchange.ts';

/** `POST /AccessPolicy/$explain`: every candidate policy for a subject and a request, its result, and the decision. */
export function explainHandler(services: OAuthServices): ResourceHandler {
  return async ({ box, query, body, mayReadPolicies, long }) => {
    refuseParameters(query);
    const asked = parseQuestion(body);
    const user = await personOf(asked, box, services);
    const request = await requestOf(asked, box, services);
    const found = await services.states.decide(box, (state) =>
      answer({ ...asked, user, request }, state, services, mayReadPolicies),
    );
    if (found === undefined) throw new Problem('not-found', 'There is nothing at this address');
    const { explanation, denied } = found;
    if (denied === undefined) return { status: 200, body: explanation };
    return { status: 200, body: await long(() => withReasons(explanation, denied)) };
  };
}

/** Reads the user of the question; null if it names none. Throws Problem `invalid` for one that is not active. */
async function personOf({ subject }: Question, box: string, { pool }: OAuthServices): Promise<Person | null> {
  const id = subject?.user;
  if (id === undefined) return null;
  const person = await inBox(pool, box, 'snapshot', (connection) => readPerson(connection, box, id));
  if (person !== undefined) return person;
  throw new Problem('invalid', [{ path: 'subject.user', message: 'must be an active user of this box' }]);
}

/** Returns the client of the question. Throws Problem `invalid` for one that is missing or not active. */
function askedClient(id: string | undefined, state: BoxState, issuer: string): Client | undefined {
  if (id === undefined) return undefined;
  const found = clientOf(state, id, issuer);
  const message = found === undefined ? 'must be a client of this box' : 'must be an active client';
  if (found === undefined || found.client.active === false)
    throw new Problem('invalid', [{ path: 'subject.client', message }]);
  return found.client;
}

/** The subject and the request of a question, with what was read of them. */
export interface ReadQuestion extends Pick<Question, 'app' | 'subject'> {
  readonly user: Person | null;
  readonly request: Omit<RequestParts, 'box' | 'time'> & { readonly time: number | undefined };
}

/** An explanation under one state of the box. */
interface Answered {
  readonly explanation: Explanation;
  /** The denied request, whose reasons are found afterwards; undefined if the caller may not see them. */
  readonly denied: DeniedRequest | undefined;
}

async function answer(
  { app, subject = {}, user, request }: ReadQuestion,
  state: BoxState,
  services: OAuthServices,
  mayReadPolicies: ResourceExchange['mayReadPolicies'],
): Promise<Answered> {
  const issuer = services.issuer(state);
  // The token of a user is always one of a client too, which policies may look at.
  const assumed = subject.client === undefined && user !== null ? { assumed_client: UI_CLIENT } : undefined;
  const client = askedClient(subject.client ?? assumed?.assumed_client, state, issuer);
  const token = explainedToken(subject, user !== null);
  const about = subjectFor(app, { ...token, client: client?.id, user }, state, issuer);
  const time = request.time ?? Math.floor(services.now() / 1000);
  const asked = requestObject({
    ...request,
    box: state.box,
    time,
    ...explainedSubject(subject, client, user, { issuer, now: time * 1000 }),
  });
  const candidates = state.policies.candidates(about, app);
  await compileAhead(candidates);
  const explanation = { ...explain(candidates, asked), ...assumed };
  if (explanation.granted || !(await mayReadPolicies(state))) return { explanation, denied: undefined };
  return { explanation, denied: { policies: [...state.policies.all()], app, subject: about, request: asked } };
}

/** Returns the subject of a question. Throws Problem `invalid` for a token that is not accepted there. */
export function subjectFor(
  app: string | undefined,
  token: AppToken,
  { settings }: Pick<BoxState, 'settings'>,
  issuer: string,
): Subject {
  const { audience, client, user } = token;
  if (app === undefined) {
    const isAccepted = audience === null || audience.includes(issuer) || allows(settings, 'foreign_audience');
    const message = 'must be the issuer in this box, which takes no token for others (compatibility.foreign_audience)';
    if (!isAccepted) throw new Problem('invalid', [{ path: 'subject.audience', message }]);
    return subjectWith(client, user, carriesUserRights(token, issuer));
  }
  if (client === undefined && user === null) {
    const message = 'must name a client or a user: nothing is granted to an app without a token';
    throw new Problem('invalid', [{ path: 'subject', message }]);
  }
  const about = appSubject(token, app, issuer);
  const message = 'must be the app, its https URL or the issuer: other tokens are not accepted there';
  if (about === undefined) throw new Problem('invalid', [{ path: 'subject.audience', message }]);
  return about;
}

/**
 * Returns the request of a question as policies see it. Its changes are determined unless the question names them.
 * Throws Problem `invalid`, and Outage.
 */
export async function requestOf(
  { app, request }: Pick<Question, 'app' | 'request'>,
  box: string,
  services: OAuthServices,
): Promise<ReadQuestion['request']> {
  const explained = app === undefined ? explainedRequest(request) : explainedAppRequest(request);
  if (!explained.ok) throw new Problem('invalid', explained.faults);
  const { parts } = explained;
  const { time } = request;
  if (app !== undefined) return { ...parts, remoteAddr: request['remote-addr'], time };
  const rest = await restOf(request, parts, box, services);
  return {
    ...parts,
    remoteAddr: request['remote-addr'] ?? '',
    time,
    ...rest,
    changes: request.changes ?? rest.changes,
  };
}

/**
 * Returns the part of a request after its head, as policies see it. For the box's own endpoints that is the body of a
 * POST, PUT or PATCH that matches its Content-Type, and its changes of the record that the path addresses.
 */
async function restOf(
  { body }: AskedRequest,
  { method, uri, headers }: Pick<RequestParts, 'method' | 'uri' | 'headers'>,
  box: string,
  services: OAuthServices,
): Promise<RestOfRequest> {
  if (uri === PLAN_PATH) return {};
  const verb = method.toUpperCase();
  const addressed = addressedBy(uri);
  const route = routes.find(
    ({ kind, method: its }) => kind === addressed?.resourceType && its === (verb === 'HEAD' ? 'GET' : verb),
  );
  if (route === undefined) return { body };
  if (!writes.has(verb)) return {};
  const contentType = contentTypeOf(headers, verb, body);
  const sent = sentBody(body, contentType, verb);
  if (uri === EXPLAIN_PATH) return sent;
  if (sent.body === undefined) return { changes: [] };
  const write = { box, id: addressed?.id, method: verb, body, contentType };
  return { body, changes: await requestedChanges(route.kind, write, services) };
}

const routes = [...resourceRoutes, ...userRoutes];
const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Returns the content type; without the header in the question it is JSON, or JSON Patch for a PATCH with a list. */
function contentTypeOf(headers: RequestParts['headers'], method: string, body: unknown): string {
  const given = headers?.['content-type'];
  if (typeof given === 'string') return given;
  return method === 'PATCH' && Array.isArray(body) ? 'application/json-patch+json' : 'application/json';
}

/** Returns the body as policies see it: none if it cannot be read as one. */
function sentBody(body: unknown, contentType: string, method: string): { readonly body?: unknown } {
  try {
    return { body: demandBody(body, bodyFormat(contentType, method).meaning) };
  } catch (error) {
    if (error instanceof Problem) return {};
    throw error;
  }
}
