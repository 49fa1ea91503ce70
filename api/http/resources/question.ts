import { Ajv } from 'ajv';
import Type from 'typebox';
import type { Static } from 'typebox';
import { LONGEST_APP_NAME } from '../../../crds/access-policy.ts';
import { schemaFaults } from '../../../crds/schema-faults.ts';
import { atMost } from '../../../crds/shape.ts';
import { Problem } from '../../problem.ts';
import { appName } from '../gateway/original-request.ts';

const text = Type.String({ maxLength: 4096 });
/** Last second of the year 9999. */
const LAST_SECOND = 253_402_300_799;
const fields = Type.Record(Type.String(), Type.Unknown());
/** Schema of a question: a subject and a request. */
export const questionSchema = Type.Object(
  {
    /** An app behind a gateway; absent: the own endpoints of the box. */
    app: Type.Optional(Type.String({ pattern: appName.source, maxLength: LONGEST_APP_NAME })),
    subject: Type.Optional(
      Type.Object(
        {
          client: Type.Optional(text),
          user: Type.Optional(Type.Integer()),
          scope: Type.Optional(Type.Union([text, Type.Null()])),
          audience: Type.Optional(text),
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
        /** Seconds since 1970; absent: now. */
        time: Type.Optional(Type.Integer({ minimum: 0, maximum: LAST_SECOND })),
        resource: Type.Optional(fields),
        body: Type.Optional(Type.Unknown()),
        changes: Type.Optional(Type.Array(text, { maxItems: 100 })),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
const matches = new Ajv({
  validateSchema: false,
  allErrors: true,
  verbose: true,
  ownProperties: true,
}).compile<Question>(questionSchema);

/** A question to `$explain`: a caller and a request. */
export type Question = Static<typeof questionSchema>;

/** Checks the body of a question. Throws Problem `invalid` with its faults. */
export function parseQuestion(body: unknown): Question {
  if (matches(body)) return body;
  throw new Problem('invalid', atMost(schemaFaults(matches.errors ?? [], body)));
}
