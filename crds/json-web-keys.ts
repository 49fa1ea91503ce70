import Type from 'typebox';
import { line } from './fields.ts';

const jsonWebKey = Type.Object(
  {
    kty: Type.Enum(['RSA', 'EC', 'OKP'], { type: 'string', description: 'Key type.' }),
    kid: Type.Optional(line('Key id, to be named in the header of an assertion.', 256)),
    d: Type.Optional(
      Type.String({ description: 'Never to be given: the private part stays with its owner.', maxLength: 4096 }),
    ),
  },
  {
    description: 'One public key (RFC 7517 §4).',
    maxProperties: 32,
    'x-kubernetes-preserve-unknown-fields': true,
  },
);

/** A set of public keys (RFC 7517 §5); members of a key that we do not know are kept. */
export const jsonWebKeySet = Type.Object(
  { keys: Type.Array(jsonWebKey, { description: 'The public keys.', minItems: 1, maxItems: 32 }) },
  {
    description: 'Public keys whose owner authenticates as this client by private_key_jwt (RFC 7523).',
    additionalProperties: false,
  },
);
