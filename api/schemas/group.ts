import Type, { type Static } from 'typebox';
import { MANY_LINES } from '../../crds/fields.ts';
import { GROUP_NAME, LONGEST_GROUP_DESCRIPTION, LONGEST_GROUP_NAME } from '../../crds/group.ts';
import { textOrNull, time } from './member.ts';

/** A group as it is shown. */
export const groupSchema = Type.Object(
  {
    resourceType: Type.Literal('Group', { description: 'Always `Group`.' }),
    id: Type.Integer({ description: 'The ID, which the service assigns.', minimum: 1 }),
    name: Type.String({ description: 'The name, unique in the box.' }),
    description: textOrNull('The purpose of the group, for people.'),
    created_at: time('The time at which it was created.'),
    members: Type.Integer({ description: 'The number of users in it.', minimum: 0 }),
  },
  { description: 'A group of users.', additionalProperties: false },
);

/** A group as it is shown. */
export type GroupView = Static<typeof groupSchema>;

/** A group as it is submitted. */
export const submittedGroupSchema = Type.Object(
  {
    resourceType: Type.Optional(Type.Literal('Group', { description: 'Always `Group`.' })),
    name: Type.String({
      description: 'The name, unique in the box, and not only digits.',
      maxLength: LONGEST_GROUP_NAME,
      pattern: GROUP_NAME,
    }),
    description: Type.Optional(
      Type.Union([Type.String({ maxLength: LONGEST_GROUP_DESCRIPTION, pattern: MANY_LINES }), Type.Null()], {
        description: 'The purpose of the group, for people.',
      }),
    ),
  },
  { description: 'A group, as it is created or replaced. Fields that were read may be sent back unchanged.' },
);
