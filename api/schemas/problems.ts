import Type, { type Static } from 'typebox';

const issue = Type.Object(
  {
    severity: Type.Literal('error'),
    code: Type.Enum(
      [
        ...['structure', 'invalid', 'login', 'forbidden', 'not-found', 'not-supported', 'conflict', 'too-long'],
        ...['throttled', 'transient', 'exception'],
      ],
      { type: 'string', description: 'A code of the FHIR value set IssueType.' },
    ),
    diagnostics: Type.String({ description: 'A sentence for people: the field, the fault, and the remedy.' }),
    expression: Type.Optional(
      Type.Unsafe<readonly string[]>({
        description: 'The field; absent if the fault concerns the whole request.',
        type: 'array',
        items: { type: 'string' },
      }),
    ),
  },
  { description: 'One fault of a request.', additionalProperties: false },
);

/** One fault of a request. */
export type Issue = Static<typeof issue>;

/** The body of every error of the resource endpoints. */
export const operationOutcomeSchema = Type.Object(
  {
    resourceType: Type.Literal('OperationOutcome'),
    id: Type.String({ description: 'The ID of the request, as in `X-Request-Id`.' }),
    issue: Type.Array(issue, { minItems: 1 }),
  },
  { description: 'An error of a resource endpoint.', additionalProperties: false },
);

/** The body of every error of the resource endpoints. */
export type OperationOutcome = Static<typeof operationOutcomeSchema>;

/** The body of an error of an OAuth endpoint (RFC 6749 §5.2). */
export const oauthErrorSchema = Type.Object(
  {
    error: Type.String({ description: 'A code, such as `invalid_client`.' }),
    error_description: Type.Optional(Type.String({ description: 'A sentence for developers.' })),
  },
  { description: 'An error of an OAuth endpoint (RFC 6749 §5.2).', additionalProperties: false },
);
