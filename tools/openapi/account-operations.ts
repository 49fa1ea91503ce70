import { schemaRef } from './components.ts';
import type { Operation } from './operation.ts';
import { errors, inEachFormat, json, responseObject } from './responses.ts';
import type { ErrorStatus } from './responses.ts';

const READ: readonly ErrorStatus[] = [400, 401, 403, 404, 406, 429, 503];

/** Operations of the account page of the admin UI, by method and path. */
export const accountOperations: Readonly<Record<string, Operation>> = {
  'GET /account': {
    id: 'account',
    tag: 'Account',
    summary: 'Returns the sessions and grants of the user who is signed in to the admin UI. Needs no policy.',
    access: 'token',
    responses: {
      200: responseObject({ description: 'The own records.', content: inEachFormat(schemaRef('Account')) }),
      ...errors('Resource', READ),
    },
  },
  'DELETE /account/sessions/:session': removal('endOwnSession', 'Revokes a session', {
    name: 'session',
    kind: 'Session',
  }),
  'DELETE /account/grants/:client': removal('withdrawOwnGrant', 'Withdraws a grant', { name: 'client', kind: 'Grant' }),
  'PUT /account/password': {
    id: 'changeOwnPassword',
    tag: 'Account',
    summary: 'Changes the password of the user who is signed in to the admin UI. Needs no policy.',
    access: 'token',
    body: inEachFormat(schemaRef('PasswordChange')),
    responses: {
      204: responseObject({ description: 'It is changed, and all sessions of the user have ended.' }),
      ...errors('Resource', [...READ, 413, 415]),
      422: responseObject({
        description: 'A password is not valid: every fault is listed.',
        content: json({ anyOf: [schemaRef('UserFaults'), schemaRef('OperationOutcome')] }),
      }),
    },
  },
};

/** The parameter of a path, and the kind of record that it names. */
interface Removed {
  readonly name: 'session' | 'client';
  readonly kind: 'Session' | 'Grant';
}

function removal(id: string, does: string, { name, kind }: Removed): Operation {
  return {
    id,
    tag: 'Account',
    summary: `${does} of the user who is signed in to the admin UI. Needs no policy.`,
    access: 'token',
    parameters: [
      { name, in: 'path', required: true, description: `The ID of the ${name}.`, schema: { type: 'string' } },
    ],
    responses: {
      200: responseObject({
        description: kind === 'Session' ? 'The revoked session.' : 'The grant as it was.',
        content: inEachFormat(schemaRef(kind)),
      }),
      204: responseObject({ description: 'The user has none with this ID.' }),
      ...errors('Resource', READ),
    },
  };
}
