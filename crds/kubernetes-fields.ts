import Type, { type TUnsafe } from 'typebox';
import { OBJECT_NAME, flag, moment, word } from './fields.ts';

/** Name of an entry in a Secret or a ConfigMap (Kubernetes: IsConfigMapKey). */
export const SECRET_KEY = '^[-._a-zA-Z0-9]+$';
/** A duration as Kubernetes users write it: `720h`, `1h30m`. */
export const DURATION = '^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$';

/** An email address, roughly: the mail servers decide on the details. */
export const EMAIL = '^[^@ \\x00-\\x1f\\x7f]+@[^@ \\x00-\\x1f\\x7f]+$';

function duration(description: string) {
  return Type.String({ description, minLength: 2, maxLength: 21, pattern: DURATION });
}

function stringMap(description: string, maxProperties: number, maxLength: number): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({
    description,
    type: 'object',
    maxProperties,
    additionalProperties: { type: 'string', description: 'One value.', maxLength },
  });
}

/** Builds the schema of a reference to an entry of a Secret in the same namespace. */
function secretReference(description: string) {
  return Type.Object(
    {
      name: word('Name of the Secret in the same namespace.', 253, OBJECT_NAME),
      key: word('Entry of the Secret.', 253, SECRET_KEY),
    },
    { description, additionalProperties: false },
  );
}

/** Names that the values of a generated Secret may use as `{{name}}`, and its entries by default. */
export const SECRET_ENTRIES = [
  'client_id',
  'client_secret',
  'issuer',
  'token_url',
  'in_cluster_token_url',
  'jwks_url',
] as const;

const generateSecret = Type.Object(
  {
    name: Type.Optional(
      word(
        'Name of the Secret: the name of the Client (default), or one that begins with it and a hyphen.',
        253,
        OBJECT_NAME,
      ),
    ),
    template: Type.Optional(
      stringMap(
        `Entries of the Secret instead of the usual ones. Placeholders: ${SECRET_ENTRIES.map((name) => `{{${name}}}`).join(', ')}.`,
        32,
        4096,
      ),
    ),
    labels: Type.Optional(
      stringMap(
        'Labels of the Secret. The annotation boxgate.dev/secret-metadata of the Namespace must list each key.',
        32,
        63,
      ),
    ),
    annotations: Type.Optional(
      stringMap(
        'Annotations of the Secret. The annotation boxgate.dev/secret-metadata of the Namespace must list each key.',
        32,
        4096,
      ),
    ),
  },
  {
    description:
      'The operator creates a Secret of the type boxgate.dev/client-credentials with client_id, client_secret, issuer, token_url, in_cluster_token_url and jwks_url, owned by this Client. This is what happens when nothing else authenticates a client whose grants need it. The right to write Clients therefore includes the right to create Secrets of this type under unused names in the namespace.',
    additionalProperties: false,
  },
);

const rotation = Type.Object(
  {
    every: Type.Optional(
      duration('A new secret is generated this often, such as `720h`. Less than `1h` counts as `1h`.'),
    ),
    at: Type.Optional(moment('A new secret is generated once, at this time.')),
    overlap: Type.Optional(duration('How long the old secret still works next to the new one; `1h` by default.')),
  },
  {
    description: 'Rotation of a generated secret; both secrets are valid during the overlap.',
    additionalProperties: false,
  },
);

/** Fields of a Client's spec that only have a meaning in manifests. */
export const clientSecretFields = {
  secretRef: Type.Optional(
    secretReference(
      'The secret of the client comes from this Secret, which must carry the label boxgate.dev/client-secret: "true". A change is live within a second.',
    ),
  ),
  generateSecret: Type.Optional(generateSecret),
  rotation: Type.Optional(rotation),
};

function deletionPolicy(description: string) {
  return Type.Optional(Type.Enum(['Delete', 'Retain'], { type: 'string', description }));
}

/**
 * Builds the schema of `adoption`; `rest` ends the sentence "What happens when" and explains the values before Force.
 */
function adoption(rest: string) {
  const force =
    'Force: also taken from an owner that no longer exists; an object of another installation is treated as existing.';
  return Type.Optional(
    Type.Enum(['Never', 'IfUnowned', 'Force'], { type: 'string', description: `What happens when ${rest} ${force}` }),
  );
}

/** Lifecycle settings of a Client or an AccessPolicy. */
export const lifecycleFields = {
  deletionPolicy: deletionPolicy(
    'What becomes of the resource when this object is deleted. Delete (default), or Retain: it goes on without an owner, with its secret and sessions, and can be changed over REST.',
  ),
  adoption: adoption(
    'a resource of this id was created over REST or by another owner. Never (default): condition Conflict. IfUnowned: taken when nobody owns it; its sessions are revoked.',
  ),
  suspend: Type.Optional(
    flag('The operator leaves the resource as it is. The service continues; to stop it, set active: false.'),
  ),
};

/** Lifecycle settings of a Box. */
export const boxLifecycleFields = {
  deletionPolicy: deletionPolicy(
    'What becomes of the data of the box (users, sessions, keys) when this object is deleted: Retain (default) or Delete.',
  ),
  suspend: lifecycleFields.suspend,
};

/** Lifecycle settings of a Group. */
export const groupLifecycleFields = {
  deletionPolicy: deletionPolicy(
    'What becomes of the group when this object is deleted. Retain (default): it goes on without an owner, with its members, and can be changed over REST. Delete: its members lose it.',
  ),
  adoption: adoption(
    'a group of this name was created over REST or by another owner. IfUnowned (default): taken when nobody owns it, with its id and members. Never: condition Conflict.',
  ),
  suspend: Type.Optional(flag('The operator leaves the group as it is. The service continues.')),
};

/** The first person who may administer a box. */
export const bootstrapAdmin = Type.Object(
  {
    email: word('Email of the user.', 254, EMAIL),
    passwordSecretRef: secretReference(
      'The password comes from this Secret, which must carry the label boxgate.dev/client-secret: "true".',
    ),
  },
  {
    description:
      'Creates once a user, the group `admins` and a policy that allows the group. An existing user is left unchanged.',
    additionalProperties: false,
  },
);
