import Type, { type Static } from 'typebox';
import { flag } from './fields.ts';

/**
 * Switches of a Box for parts of the interface document that are laxer than today’s practice
 * (docs/reference/security.md).
 */
export const compatibility = Type.Object(
  {
    profile: Type.Optional(
      Type.Enum(['strict'], {
        type: 'string',
        description: '`strict`: every switch below is false unless it is given.',
      }),
    ),
    implicit: Type.Optional(flag('The implicit grant works (RFC 9700 §2.1.2 advises against it).')),
    query_token: Type.Optional(flag('The users API takes the token in the query (RFC 6750 §2.3).')),
    password_hash: Type.Optional(flag('Answers about one user carry the hash of the password.')),
    password_change_without_old: Type.Optional(flag('A password is changed without the old one.')),
    refresh_without_secret: Type.Optional(flag('A confidential client refreshes without authenticating itself.')),
    password_grant: Type.Optional(
      flag(
        'A client that lists the grant `password` gets tokens for the passwords of people (RFC 9700 §2.4 advises against it).',
      ),
    ),
    foreign_audience: Type.Optional(flag("The box's own endpoints accept a token for another audience.")),
  },
  {
    description:
      'A switch for each place where the interface document is laxer than today’s practice; all true by default.',
    additionalProperties: false,
  },
);

type Switches = Static<typeof compatibility>;

/** Checks whether a box allows a laxer behaviour: true unless its switch or its profile says otherwise. */
export function allows(box: { readonly compatibility?: Switches }, what: Exclude<keyof Switches, 'profile'>): boolean {
  const { compatibility: switches } = box;
  return switches?.[what] ?? switches?.profile !== 'strict';
}
