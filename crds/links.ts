import { isObject } from './path.ts';
import Type, { type Static } from 'typebox';
import { ONE_LINE } from './fields.ts';

/** Types of resources that a policy can be linked to. */
export const LINK_TYPES = ['Client', 'User', 'Group'] as const;

/** Id of a Client: at most 128 characters, never only digits. Text for RE2 (without lookahead) and for JavaScript. */
export const CLIENT_LINK_ID = '^([A-Za-z]|[0-9]+[A-Za-z._~-])[A-Za-z0-9._~-]*$';
/** A User's id: a number that the service assigned. */
export const USER_LINK_ID = '^[1-9][0-9]{0,14}$';

/** A link written as one text. */
export const REFERENCE = `^(Client/${inner(CLIENT_LINK_ID)}|User/${inner(USER_LINK_ID)}|Group/[^\\x00-\\x1f\\x7f]{1,128})$`;

/** One link as it is submitted: in the stored form, or as `{reference: "Client/x"}`. */
export const submittedLink = Type.Object(
  {
    resourceType: Type.Optional(
      Type.Enum([...LINK_TYPES], { type: 'string', description: 'Type of the linked resource.' }),
    ),
    id: Type.Optional(
      Type.String({
        description: 'Id of the linked resource in the same box; of a Group its id or its name.',
        minLength: 1,
        maxLength: 128,
        pattern: ONE_LINE,
      }),
    ),
    reference: Type.Optional(
      Type.String({
        description: 'The two other fields in one: `Client/my-client`.',
        maxLength: 135,
        pattern: REFERENCE,
      }),
    ),
  },
  { description: 'One linked resource of the same box.', additionalProperties: false },
);

/** A link in either form. */
export type SubmittedLink = Static<typeof submittedLink>;

/** One link in the form that is stored: by id within the box, a Group by name too. */
export interface Link {
  resourceType: (typeof LINK_TYPES)[number];
  id: string;
}

/**
 * Returns a submitted policy with the ID of every linked user and group as text: `/users` and `/Group` show it as a
 * number. Anything else is returned unchanged.
 */
export function withTextLinkIds(policy: unknown): unknown {
  if (!isObject(policy) || !Array.isArray(policy['link'])) return policy;
  const links: readonly unknown[] = policy['link'];
  return links.some(hasNumber) ? { ...policy, link: links.map(withTextId) } : policy;
}

function hasNumber(link: unknown): link is Record<string, unknown> {
  return isObject(link) && link['resourceType'] !== 'Client' && Number.isSafeInteger(link['id']);
}

function withTextId(link: unknown): unknown {
  return hasNumber(link) ? { ...link, id: String(link['id']) } : link;
}

/** Returns the stored form of a link that obeys the rules, or undefined for one that has neither form. */
export function storedLink({ resourceType, id, reference }: SubmittedLink): Link | undefined {
  if (reference !== undefined) return referencedLink(reference);
  return resourceType === undefined || id === undefined ? undefined : { resourceType, id };
}

function referencedLink(reference: string): Link | undefined {
  const slash = reference.indexOf('/');
  const resourceType = LINK_TYPES.find((type) => type === reference.slice(0, slash));
  return resourceType === undefined ? undefined : { resourceType, id: reference.slice(slash + 1) };
}

/** Returns a pattern without its anchors, for use inside another. */
function inner(pattern: string): string {
  return pattern.slice(1, -1);
}
