import Type, { type Static } from 'typebox';
import { reference, textOrNull, time } from './member.ts';

const claims = Type.Optional(
  Type.Array(Type.String(), { description: 'The claims that the client requested by name, and the user allowed.' }),
);

const consent = Type.Object(
  {
    redirect_uri: Type.String({ description: 'The redirect URI that the user saw.' }),
    audience: textOrNull('The audience that the user saw; null: the issuer.'),
    scope: textOrNull('The scopes that the user allowed there; null: none.'),
    claims,
  },
  { description: 'One consent.', additionalProperties: false },
);

/** A grant as it is shown. */
export const grantSchema = Type.Object(
  {
    resourceType: Type.Literal('Grant', { description: 'Always `Grant`.' }),
    id: Type.String({ description: 'The ID of the user, a dot, the ID of the client.' }),
    user: reference('User', 'The user who consented.'),
    client: reference('Client', 'The client that may act.'),
    scope: textOrNull('All scopes that the user allowed the client; null: none.'),
    claims,
    consents: Type.Array(consent, { description: 'The consents, one for each redirect URI and audience.' }),
    created_at: time('The time of the first consent.'),
  },
  { description: 'What a user allows a client.', additionalProperties: false },
);

/** A grant as it is shown. */
export type GrantView = Static<typeof grantSchema>;
