import { Ajv } from 'ajv';
import Type from 'typebox';
import type { Static } from 'typebox';
import { schemaFaults } from '../../../crds/schema-faults.ts';
import type { Person } from '../../db/hot-statements.ts';
import { inBox } from '../../db/transaction.ts';
import { readPerson } from '../../db/user.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import { explain } from '../../policy/decide.ts';
import type { Explanation } from '../../policy/decide.ts';
import { requestObject } from '../../policy/request-object.ts';
import { Problem } from '../../problem.ts';
import { refuseParameters } from '../../resources/search-parameters.ts';
import type { BoxState } from '../../state/box-state.ts';
import { subjectOf, userFields } from '../session-parts.ts';
import type { ResourceHandler } from './resource-exchange.ts';

const text = Type.String({ maxLength: 4096 });
const fields = Type.Record(Type.String(), Type.Unknown());
const question = Type.Object(
  {
    subject: Type.Optional(
      Type.Object(
        {
          client: Type.Optional(text),
          user: Type.Optional(Type.Integer()),
          session: Type.Optional(fields),
          token: Type.Optional(fields),
        },
        { additionalProperties: false },
      ),
    ),
    request: Type.Object(
      {
        'request-method': text,
        uri: text,
        params: Type.Optional(fields),
        headers: Type.Optional(fields),
        'remote-addr': Type.Optional(text),
        resource: Type.Optional(fields),
        body: Type.Optional(Type.Unknown()),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
const matches = new Ajv({ allErrors: true, ownProperties: true }).compile<Question>(question);

type Question = Static<typeof question>;

/** `POST /AccessPolicy/$explain`: for a subject and a request every candidate policy, its result, and the deciding one. */
export function explainHandler(services: OAuthServices): ResourceHandler {
  return async ({ box, query, body }) => {
    refuseParameters(query);
    const asked = parseQuestion(body);
    const user = await personOf(asked, box, services);
    const found = await services.states.decide(box, async (state, statements) => {
      const value = answer(asked, user, state);
      return { version: await statements.version(box), value };
    });
    if (found === undefined) throw new Problem('not-found', 'There is nothing at this address');
    return { status: 200, body: found };
  };
}

function parseQuestion(body: unknown): Question {
  if (matches(body)) return body;
  throw new Problem('invalid', schemaFaults(matches.errors ?? [], body));
}

/** The user of the question; null when it names none. Throws Problem `invalid` for one that could not make a request. */
async function personOf({ subject }: Question, box: string, { pool }: OAuthServices): Promise<Person | null> {
  const id = subject?.user;
  if (id === undefined) return null;
  const person = await inBox(pool, box, 'snapshot', (connection) => readPerson(connection, box, id));
  if (person !== undefined) return person;
  throw new Problem('invalid', [{ path: 'subject.user', message: 'must be an active user of this box' }]);
}

function answer({ subject, request }: Question, user: Person | null, state: BoxState): Explanation {
  const client = subject?.client === undefined ? undefined : state.clients.get(subject.client);
  if (subject?.client !== undefined && client === undefined) {
    throw new Problem('invalid', [{ path: 'subject.client', message: 'must be a client of this box' }]);
  }
  const asked = requestObject({
    method: request['request-method'],
    uri: request.uri,
    params: request.params,
    headers: request.headers,
    remoteAddr: request['remote-addr'] ?? '',
    box: state.box,
    body: request.body,
    resource: request.resource,
    client: client?.client,
    user: user === null ? undefined : userFields(user),
    session: subject?.session,
    token: subject?.token,
  });
  return explain(state.policies, subjectOf(client?.client.id, user), asked);
}
