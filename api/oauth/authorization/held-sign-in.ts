import type { FoundSignIn } from '../../db/authorization/sign-in-statement.ts';
import { Outage } from '../../db/core/outage.ts';
import type { Connection } from '../../db/core/transaction.ts';
import type { Person } from '../../db/user/person.ts';
import type { CurrentStatements } from '../../state/current-statements.ts';
import type { OAuthServices } from '../services.ts';
import { lockCurrentSignIn } from '../session/signed-in.ts';
import type { AuthorizationResponse } from './authorization-response.ts';
import { findCurrentSignIn } from './browser-request.ts';
import type { BrowserRequest, NextStep } from './browser-request.ts';
import { issueCode } from './issue-code.ts';
import { answerKeys, issueTokens } from './issue-tokens.ts';
import type { AnswerKeys } from './issue-tokens.ts';

/** A transaction that holds the box, and the row of the browser's sign-in: a sign-out comes before it or after it. */
export interface HeldSignIn {
  readonly connection: Connection;
  /** The statements of this transaction. */
  readonly statements: CurrentStatements;
  /** Undefined if nobody is signed in. */
  readonly signIn: FoundSignIn | undefined;
  readonly person: Person | undefined;
  readonly keys: AnswerKeys;
}

/** Runs work in a transaction that holds the box and the sign-in of a request. Throws KeyNeeded, and Outage. */
export function withHeldSignIn(
  asked: BrowserRequest,
  work: (held: HeldSignIn) => Promise<NextStep>,
): Promise<NextStep> {
  const keys = answerKeys(asked);
  return asked.transaction(async (connection, statements) => {
    const locked = await lockCurrentSignIn(connection, asked.state, asked.browser, asked.now);
    const signIn = locked && (await findCurrentSignIn(asked, statements));
    return work({ connection, statements, signIn, person: locked?.person, keys });
  });
}

/** Issues a code or tokens to a held sign-in that passed all checks. Throws Outage. */
export async function issueHeld(
  asked: BrowserRequest,
  { connection, statements, signIn, person, keys }: HeldSignIn,
  services: OAuthServices,
): Promise<NextStep> {
  if (signIn === undefined || person === undefined) throw new Error('only a user who is signed in gets an answer');
  const answer =
    asked.request.type === 'code'
      ? await issueCode(asked, signIn, statements)
      : await issueTokens(connection, asked, { signIn, person }, keys);
  if (answer === undefined) throw new Outage('a locked sign-in cannot be read');
  return answerClient(asked, answer, services);
}

/** Returns the step that brings an answer to the client, whose use is noted. */
export function answerClient(
  { state, request, now }: BrowserRequest,
  answer: AuthorizationResponse,
  services: OAuthServices,
): NextStep {
  services.usage.tokenIssued(state.box, request.client.client.id, now);
  return { next: 'client', answer };
}
