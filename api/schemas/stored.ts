import Type, { type Static } from 'typebox';
import { accessPolicySchema } from '../../crds/access-policy.ts';
import { clientSchema } from '../../crds/client.ts';
import { LINK_TYPES } from '../../crds/links.ts';
import { time } from './member.ts';

const createdAt = { created_at: time('The time at which it was created.') };

const { secret: _secret, ...clientWithoutSecret } = clientSchema.properties;

/** A client as it is shown: without its secret. */
export const clientView = Type.Object(
  { ...clientWithoutSecret, ...createdAt },
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
    ...createdAt,
  },
  { description: 'A rule that grants requests; what no policy grants is denied.', additionalProperties: false },
);

/** An access policy as it is shown. */
export type AccessPolicyView = Static<typeof accessPolicyView>;
