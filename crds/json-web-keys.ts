import Type from 'typebox';
import { freeObject, line } from './fields.ts';

/** Members that only a private or symmetric key has (RFC 7518 §6.2.2, §6.3.2, §6.4.1). */
export const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/**
 * A modulus of 2048 bits or more, in base64url without leading zero octets (RFC 7518 §6.3.1.1): 342 characters, the
 * first of which has the highest bit, or more characters. Text for RE2 and for JavaScript.
 */
export const RSA_MODULUS =
  '^([g-z0-9_-][A-Za-z0-9_-]{341}|([B-Za-z0-9_-][A-Za-z0-9_-]|A[Q-Za-z0-9_-])[A-Za-z0-9_-]{341,})$';

const privatePart = Type.Optional(
  Type.String({ description: 'Never to be given: the private part stays with its owner.', maxLength: 4096 }),
);

function member(description: string) {
  return Type.Optional(Type.String({ description, maxLength: 4096 }));
}

const jsonWebKey = Type.Object(
  {
    kty: Type.Enum(['RSA', 'EC', 'OKP'], { type: 'string', description: 'Key type.' }),
    kid: Type.Optional(line('Key id, to be named in the header of an assertion.', 256)),
    n: Type.Optional(
      Type.String({
        description:
          'Modulus of an RSA key, in base64url: 2048 bits or more. Quote the name in YAML: kubectl takes an unquoted n for false.',
        maxLength: 4096,
      }),
    ),
    e: member('Exponent of an RSA key, in base64url: nearly always `AQAB`.'),
    crv: member('Curve of an EC key (P-256, P-384, P-521) or an OKP key (Ed25519).'),
    x: member('First coordinate of an EC key, or the public key of an OKP key, in base64url.'),
    y: member(
      'Second coordinate of an EC key, in base64url. Quote the name in YAML: kubectl takes an unquoted y for true.',
    ),
    d: privatePart,
    p: privatePart,
    q: privatePart,
    dp: privatePart,
    dq: privatePart,
    qi: privatePart,
    oth: Type.Optional(
      Type.Array(freeObject('Another prime.'), {
        description: 'Never to be given: the private part stays with its owner.',
        maxItems: 16,
      }),
    ),
    k: privatePart,
  },
  {
    description: 'One public key (RFC 7517 §4).',
    maxProperties: 32,
    'x-kubernetes-preserve-unknown-fields': true,
  },
);

/** A set of public keys (RFC 7517 §5); unknown members of a key are kept. */
export const jsonWebKeySet = Type.Object(
  { keys: Type.Array(jsonWebKey, { description: 'The public keys.', minItems: 1, maxItems: 32 }) },
  {
    description: 'Public keys whose owner authenticates as this client by private_key_jwt (RFC 7523).',
    additionalProperties: false,
  },
);
