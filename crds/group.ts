import Type, { type Static } from 'typebox';
import { MANY_LINES, word } from './fields.ts';

/**
 * Form of a group's name: one line without a blank at its ends, in any script. The same text is a regular expression of
 * JavaScript and of RE2.
 */
export const GROUP_NAME = '^[^\\p{C}\\p{Z}]([^\\p{C}\\p{Zl}\\p{Zp}]*[^\\p{C}\\p{Z}])?$';

/** Characters of a group's name at most: as many as a policy's link takes. */
export const LONGEST_GROUP_NAME = 128;

/** Characters of a group's description at most. */
export const LONGEST_GROUP_DESCRIPTION = 1024;

/** Name of a group. A rule refuses one of only digits. */
export const groupName = word('Name of the group, unique in the box.', LONGEST_GROUP_NAME, GROUP_NAME);

/** Fields of a Group that are the same in a custom resource and over REST. */
export const groupFields = {
  description: Type.Optional(
    Type.String({
      description: 'What the group is for, for people.',
      maxLength: LONGEST_GROUP_DESCRIPTION,
      pattern: MANY_LINES,
    }),
  ),
};

/** A group as the operator submits it. Its members are data of the box and are never declared. */
export const groupSchema = Type.Object(
  { resourceType: Type.Literal('Group', { description: 'Always `Group`.' }), name: groupName, ...groupFields },
  { description: 'A group of users.', additionalProperties: false },
);

/** A declared group. */
export type Group = Static<typeof groupSchema>;
