import { Ajv } from 'ajv';
import Type from 'typebox';
import type { Static } from 'typebox';
import { schemaFaults } from '../../../crds/schema-faults.ts';
import type { OAuthServices } from '../../oauth/services.ts';
import { explain } from '../../policy/decide.ts';
import type { Explanation } from '../../policy/decide.ts';
import { requestObject } from '../../policy/request-object.ts';
import { Problem } from '../../problem.ts';
import { refuseParameters } from '../../resources/search-parameters.ts';
import type { BoxState } from '../../state/box-state.ts';
import type { ResourceHandler } from './resource-exchange.ts';

const text = Type.String({ maxLength: 4096 });
const fields = Type.Record(Type.String(), Type.Unknown());
const question = Type.Object(
  {
    subject: Type.Optional(
      Type.Object(
        { client: Type.Optional(text), session: Type.Optional(fields), token: Type.Optional(fields) },
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
    const found = await services.states.decide(box, async (state, statements) => {
      const value = answer(asked, state);
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

function answer({ subject, request }: Question, state: BoxState): Explanation {
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
    session: subject?.session,
    token: subject?.token,
  });
  return explain(state.policies, client === undefined ? {} : { client: client.client.id }, asked);
}
