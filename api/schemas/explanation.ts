import Type, { type Static } from 'typebox';
import { ENGINES } from '../../crds/access-policy.ts';

const candidate = Type.Object(
  {
    policy: Type.String({ description: 'The ID of the policy.' }),
    engine: Type.Enum([...ENGINES], { type: 'string' }),
    granted: Type.Boolean({ description: 'Whether it grants the request.' }),
    fault: Type.Optional(
      Type.String({ description: 'Reason why it could not grant: it is invalid, or it failed on this request.' }),
    ),
  },
  { description: 'Result of one candidate.', additionalProperties: false },
);

/** Result of one candidate. */
export type ExplainedCandidate = Static<typeof candidate>;

/** A decision with every candidate's part in it. */
export const explanationSchema = Type.Object(
  {
    granted: Type.Boolean({ description: 'The decision.' }),
    policy: Type.Optional(Type.String({ description: 'The deciding policy; absent when none grants.' })),
    candidates: Type.Unsafe<readonly ExplainedCandidate[]>(
      Type.Array(candidate, { description: 'The candidates, in the order in which they are asked.' }),
    ),
  },
  { description: 'A decision, and the part of every candidate in it.', additionalProperties: false },
);

/** A decision with every candidate's part in it. */
export type Explanation = Static<typeof explanationSchema>;
