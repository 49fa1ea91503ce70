import Type, { type Static, type TSchema } from 'typebox';
import { accessPolicySchema } from '../../crds/access-policy.ts';
import { clientSchema } from '../../crds/client.ts';
import { LINK_TYPES } from '../../crds/links.ts';
import { texts, time } from './member.ts';

const pageLink = Type.Object(
  {
    relation: Type.Enum(['self', 'first', 'previous', 'next', 'last'], { type: 'string' }),
    url: Type.String({ description: 'Address of the page, at the issuer.' }),
  },
  { description: 'Link to a page of the same search.', additionalProperties: false },
);

/** A link to a page of a search. */
export type Link = Static<typeof pageLink>;

/** Returns the schema of the answer to a search for resources of one schema. */
export function bundleOf<Resource extends TSchema>(resource: Resource) {
  return Type.Object(
    {
      resourceType: Type.Literal('Bundle'),
      type: Type.Literal('searchset'),
      total: Type.Optional(
        Type.Integer({ description: 'Matches, exact up to 10,000; absent with `_total=none`.', minimum: 0 }),
      ),
      link: Type.Array(pageLink, { description: 'Pages of the search.' }),
      entry: Type.Array(Type.Object({ resource }, { additionalProperties: false }), {
        description: 'The resources of this page.',
      }),
    },
    { description: 'One page of a search.', additionalProperties: false },
  );
}

const ofService = {
  created_at: time('The time at which it was created.'),
  warnings: Type.Optional(
    texts('What is stored and has no effect, or more than is probably meant; in answers to writes only.'),
  ),
};

const { secret: _secret, ...clientWithoutSecret } = clientSchema.properties;

const previousUntil = 'The time until which the secret before the present one is valid too';

/** A client as it is submitted. */
export const submittedClient = Type.Object(
  {
    ...clientSchema.properties,
    previous_secret_until: Type.Optional(
      Type.Union([time('Time.'), Type.Null()], {
        description: `${previousUntil}; with a new secret: that of the replaced one. Null, or a past time, ends it.`,
      }),
    ),
  },
  { description: 'An OAuth 2.0 client of one box.', additionalProperties: false },
);

/** A client as it is shown: without its secret. */
export const clientView = Type.Object(
  { ...clientWithoutSecret, previous_secret_until: Type.Optional(time(`${previousUntil}.`)), ...ofService },
  { description: 'An OAuth 2.0 client of one box. The secret is never shown.', additionalProperties: false },
);

/** A client as it is shown. */
export type ClientView = Static<typeof clientView>;

const link = Type.Object(
  { resourceType: Type.Enum([...LINK_TYPES], { type: 'string' }), id: Type.String() },
  { description: 'One linked resource of the same box.', additionalProperties: false },
);

/** An access policy as it is shown: its links have one form. */
export const accessPolicyView = Type.Object(
  {
    ...accessPolicySchema.properties,
    link: Type.Optional(
      Type.Array(link, { description: 'Clients, users and groups of the same box that the policy concerns.' }),
    ),
    ...ofService,
  },
  { description: 'A rule that grants requests; what no policy grants is denied.', additionalProperties: false },
);

/** An access policy as it is shown. */
export type AccessPolicyView = Static<typeof accessPolicyView>;
