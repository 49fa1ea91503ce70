import Type, { type Static } from 'typebox';
import { MOST_GROUPS_OF_USER } from '../../crds/user-faults.ts';
import { textOrNull, time } from './member.ts';

const groupOfUser = Type.Object(
  {
    id: Type.Integer({ description: 'The ID of the group.', minimum: 1 }),
    name: Type.String({ description: 'The name of the group.' }),
    description: textOrNull('The purpose of the group.'),
  },
  { description: 'A group that the user is in.', additionalProperties: false },
);

const status = Type.Union([Type.Null(), Type.Literal('active'), Type.Literal('inactive')], {
  description: '`inactive`: the user cannot sign in. null means active.',
});

/** A user as a list shows it. */
export const listedUserSchema = Type.Object(
  {
    id: Type.Integer({ description: 'The ID, which the service assigns.', minimum: 1 }),
    email: Type.String({ description: 'The email, unique in the box.' }),
    email_verified: Type.Optional(
      Type.Boolean({ description: 'Absent if nobody has said so: an administrator gave the email.' }),
    ),
    data: textOrNull('Any JSON, as text.'),
    status,
    'group-ids': Type.Unsafe<readonly number[]>({
      description: 'The IDs of the groups of the user.',
      type: 'array',
      items: { type: 'integer' },
    }),
    groups: Type.Unsafe<readonly Static<typeof groupOfUser>[] | null>(
      Type.Union([Type.Array(groupOfUser), Type.Null()], {
        description: 'The groups of the user; null if there are none.',
      }),
    ),
    created_at: time('The time at which the user was created.'),
    updated_at: time('The time of the last change.'),
  },
  { description: 'A user in a list.', additionalProperties: false },
);

/** A user as a list shows it. */
export type ListedUser = Static<typeof listedUserSchema>;

/** A user alone. */
export const userSchema = Type.Object(
  {
    ...listedUserSchema.properties,
    password: Type.Optional(
      Type.String({
        description:
          'The argon2id hash of the password; absent if the box sets `compatibility.password_hash` to false.',
      }),
    ),
  },
  { description: 'A user.', additionalProperties: false },
);

/** A user alone. */
export type UserView = Static<typeof userSchema>;

const writable = {
  email: Type.String({ description: 'The email, unique in the box without regard to case.', maxLength: 254 }),
  password: Type.String({ description: 'The password. The hash that was read changes nothing.' }),
  email_verified: Type.Optional(Type.Boolean({ description: 'Whether the address is verified.' })),
  data: Type.Optional(
    Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown()), Type.Null()], {
      description: 'Any JSON as text; an object or array is stored as its JSON text.',
    }),
  ),
  status: Type.Optional(status),
  'group-ids': Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }), {
      description: 'The IDs of groups.',
      maxItems: MOST_GROUPS_OF_USER,
    }),
  ),
};

/** A user as it is created. */
export const newUserSchema = Type.Object(writable, { description: 'A user, as it is created.' });

/** Changes of a user: a field that is absent stays. */
export const changedUserSchema = Type.Object(
  {
    ...writable,
    email: Type.Optional(writable.email),
    password: Type.Optional(writable.password),
    end_sessions: Type.Optional(
      Type.Boolean({ description: 'True signs the user out everywhere, as a new password does. It is not stored.' }),
    ),
    old_password: Type.Optional(
      Type.String({
        description: 'The present password, where the box sets `compatibility.password_change_without_old` to false.',
      }),
    ),
  },
  { description: 'Changes of a user: a field that is absent stays as it is.' },
);

/** The 422 of `/users`. */
export const userFaultsSchema = Type.Object(
  {
    entity: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The fields that were sent, without the password.',
    }),
    errors: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'Messages by field; `body` for the whole.',
    }),
  },
  { description: 'Every fault of a user.', additionalProperties: false },
);

/** The 422 of `/users`. */
export type UserFaults = Static<typeof userFaultsSchema>;
