import Type from 'typebox';
import { SCOPE_OF_CLAIM } from '../../api/oauth/openid/user-claims.ts';
import { serverMetadata } from '../../api/oauth/metadata.ts';
import { texts } from '../../api/schemas/member.ts';

/** A box without settings, clients and keys. */
const emptyBox: Parameters<typeof serverMetadata>[1] = {
  settings: { resourceType: 'Box', id: 'box' },
  clients: new Map(),
  keys: { all: [], find: () => undefined, signing: () => undefined },
};

/** The server metadata (RFC 8414 §2): its members are those that a box without settings has. */
export const metadataSchema = Type.Object(
  Object.fromEntries(
    Object.entries(serverMetadata('https://auth.example.com', emptyBox)).map(([name, value]) => [
      name,
      memberLike(value),
    ]),
  ),
  { description: 'Metadata of the server (RFC 8414 §2, OpenID Connect Discovery §3).', additionalProperties: false },
);

function memberLike(value: unknown) {
  if (Array.isArray(value)) return texts('Names.');
  return typeof value === 'boolean' ? Type.Boolean() : Type.String();
}

/** The keys of a box (RFC 7517 §5). */
export const jsonWebKeySetSchema = Type.Object(
  {
    keys: Type.Array(
      Type.Object(
        {
          kty: Type.Enum(['EC', 'RSA', 'OKP'], { type: 'string' }),
          kid: Type.String(),
          alg: Type.String(),
          use: Type.Literal('sig'),
          ...Object.fromEntries(['crv', 'x', 'y', 'n', 'e'].map((name) => [name, Type.Optional(Type.String())])),
        },
        { description: 'A public key.', additionalProperties: false },
      ),
    ),
  },
  { description: 'Public keys: the next, the current and the previous ones.', additionalProperties: false },
);

/** The claims about a user (OpenID Connect Core §5.3.2); those that come from `data` have any JSON type. */
export const userInfoSchema = Type.Object(
  {
    sub: Type.String({ description: 'The ID of the user.' }),
    ...Object.fromEntries([...SCOPE_OF_CLAIM.keys()].map((name) => [name, Type.Optional(Type.Unknown())])),
  },
  { description: 'Claims about the user.', additionalProperties: false },
);
