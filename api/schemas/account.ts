import Type, { type Static } from 'typebox';
import { grantSchema } from './grant.ts';
import { sessionSchema } from './session.ts';

/** Records of a user's own account. */
export const accountSchema = Type.Object(
  {
    sessions: Type.Array(sessionSchema, { description: 'The active sessions of the user, the newest first.' }),
    grants: Type.Array(grantSchema, { description: 'The grants of the user.' }),
  },
  { description: 'What the signed-in user has in the box, at most 1,000 of each.', additionalProperties: false },
);

/** Records of a user's own account. */
export type AccountView = Static<typeof accountSchema>;

/** A change of the own password. */
export const passwordChangeSchema = Type.Object(
  {
    old_password: Type.String({ description: 'The present password.' }),
    password: Type.String({ description: 'The new password.' }),
  },
  { description: 'A new password of the signed-in user.', additionalProperties: false },
);

/** A change of the own password. */
export type PasswordChange = Static<typeof passwordChangeSchema>;
