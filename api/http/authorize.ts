import type { IncomingMessage } from 'node:http';
import { allows } from '../../crds/compatibility.ts';
import type { Box } from '../../crds/box.ts';
import { checkBearer } from '../oauth/check-token.ts';
import type { LiveSession } from '../oauth/check-token.ts';
import type { OAuthServices } from '../oauth/services.ts';
import { decide } from '../policy/decide.ts';
import { requestObject } from '../policy/request-object.ts';
import type { RequestObject } from '../policy/request-object.ts';
import type { Subject } from '../policy/policy-index.ts';
import { Problem } from '../problem.ts';
import type { BoxState } from '../state/box-state.ts';
import { missingToken, refusedToken } from './authenticate.ts';
import { nothingHere } from './nothing-here.ts';
import { normalPath } from './path-text.ts';
import { sessionParts, subjectOf } from './session-parts.ts';

/** What is asked for, beside the token: what the policies see of it. */
export interface AskedFor {
  readonly box: string;
  readonly request: IncomingMessage;
  /** Path below the box. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly remoteAddr: string;
  readonly resource: Readonly<Record<string, unknown>>;
  /** The token stands in the query, which a box may refuse (`compatibility.query_token`). */
  readonly tokenIsInQuery?: boolean;
  /** Parses the body. Called only when there is a policy to ask: a stranger's body is not worth the work. */
  readonly body: () => unknown;
}

/** Who may go on, and why. */
export interface Granted {
  /** Undefined: nobody is known, a policy for `anyone` grants. */
  readonly session: LiveSession | undefined;
  readonly policy: string;
  readonly issuer: string;
  /** The settings of the box under which that was decided. */
  readonly settings: Box;
}

type Verdict = Granted | 'unauthenticated' | 'forbidden' | 'not-in-query';

/**
 * Authenticates the token and asks the box's policies, in one statement under one configuration (default deny). Throws
 * Problem `unauthenticated`, `forbidden` (no reason is disclosed) or `not-found` (no such box), and Outage.
 */
export async function authorize(token: string | undefined, asked: AskedFor, services: OAuthServices): Promise<Granted> {
  const verdict = await services.states.decide<Verdict>(asked.box, async (state, statements) => {
    const judge = (session?: LiveSession): Verdict => judgeRequest(session, asked, state, services.issuer(state));
    if (token === undefined) return { version: await statements.version(asked.box), value: judge() };
    const { version, value } = await checkBearer(token, state, statements, services);
    if (asked.tokenIsInQuery === true && !allows(state.settings, 'query_token'))
      return { version, value: 'not-in-query' };
    return { version, value: value === undefined ? 'unauthenticated' : judge(value) };
  });
  if (verdict === undefined) throw nothingHere();
  if (verdict === 'unauthenticated') throw token === undefined ? missingToken(asked.box) : refusedToken(asked.box);
  if (verdict === 'not-in-query') {
    const message = 'is not taken from the query in this box: send the token in the Authorization header';
    throw new Problem('bad-request', [{ path: 'access_token', message }]);
  }
  if (verdict === 'forbidden') throw new Problem('forbidden', 'No access policy grants this request');
  return verdict;
}

function judgeRequest(session: LiveSession | undefined, asked: AskedFor, state: BoxState, issuer: string): Verdict {
  const denied = session === undefined ? 'unauthenticated' : 'forbidden';
  const subject: Subject = session === undefined ? {} : subjectOf(session.client.id, session.user);
  if (isEmpty(state.policies.candidates(subject))) return denied;
  const { granted, policy = '' } = decide(state.policies, subject, requestOf(session, asked, issuer));
  return granted ? { session, policy, issuer, settings: state.settings } : denied;
}

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _item of items) return false;
  return true;
}

function requestOf(session: LiveSession | undefined, asked: AskedFor, issuer: string): RequestObject {
  return requestObject({
    method: asked.request.method ?? 'GET',
    uri: normalPath(asked.path),
    params: parameters(asked.query),
    headers: asked.request.headers,
    remoteAddr: asked.remoteAddr,
    box: asked.box,
    body: asked.body(),
    resource: asked.resource,
    ...(session === undefined ? {} : sessionParts(session, issuer)),
  });
}

function parameters(query: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}
