import { expect } from 'chai';
import { isObject } from '../../../../crds/path.ts';
import { member } from '../../../support/member.ts';
import type { BoxApi, CallOptions, Reply } from '../box-api.ts';

/** Password of the users that these tests create. */
export const password = 'correct horse';

/** Returns the messages of a refused record, by field. */
export function errorsIn(body: unknown): Readonly<Record<string, unknown>> {
  const errors = member(body, 'errors');
  return isObject(errors) ? errors : {};
}

/** Returns the fields that a refusal complains about. */
export const fieldsAtFault = ({ body }: Reply): readonly string[] => Object.keys(errorsIn(body));

/** Returns the requests of a test; `current` returns its API at the moment of a request. */
export function userRequests(current: () => BoxApi) {
  let nth = 0;

  /** Returns an email that nobody has yet. */
  const anEmail = (): string => `user-${String((nth += 1))}@mail.example`;

  const post = (body: object, options: CallOptions = {}): Promise<Reply> =>
    current().call('POST', '/users', { body, ...options });

  /** Creates a user and returns the ID. */
  async function create(fields: object = {}): Promise<string> {
    const reply = await post({ email: anEmail(), password, ...fields });
    expect(reply.status, reply.text).to.equal(201);
    return String(member(reply.body, 'id'));
  }

  /** Returns the emails of the users that a query finds. */
  async function listed(query: string): Promise<readonly string[]> {
    const { body, status, text } = await current().call('GET', `/users?${query}`);
    expect(status, text).to.equal(200);
    return Array.isArray(body) ? body.map((user) => String(member(user, 'email'))) : [];
  }

  return { anEmail, create, listed, post };
}
