import Type, { type Static, type TSchema } from 'typebox';

const link = Type.Object(
  {
    relation: Type.Enum(['self', 'first', 'previous', 'next', 'last'], { type: 'string' }),
    url: Type.String({ description: 'Address of the page, at the issuer.' }),
  },
  { description: 'Link to a page of the same search.', additionalProperties: false },
);

/** A link to a page of a search. */
export type Link = Static<typeof link>;

/** Returns the schema of the answer to a search for resources of one schema. */
export function bundleOf<Resource extends TSchema>(resource: Resource) {
  return Type.Object(
    {
      resourceType: Type.Literal('Bundle'),
      type: Type.Literal('searchset'),
      total: Type.Optional(
        Type.Integer({ description: 'Matches, exact up to 10,000; absent with `_total=none`.', minimum: 0 }),
      ),
      link: Type.Array(link, { description: 'Pages of the search.' }),
      entry: Type.Array(Type.Object({ resource }, { additionalProperties: false }), {
        description: 'The resources of this page.',
      }),
    },
    { description: 'One page of a search.', additionalProperties: false },
  );
}
