import Type, { type Static, type TSchema } from 'typebox';
import { DNS_LABEL, OBJECT_NAME, freeObject, word } from './fields.ts';
import { API_VERSION, type Kind } from './kind.ts';
import { accessPolicySpec, boxSpec, clientSpec, groupSpec } from './specs.ts';

/** Members of an object's metadata that are read; the others belong to Kubernetes and are accepted. */
const metadata = Type.Object(
  {
    name: word('Name of the object.', 253, OBJECT_NAME),
    namespace: Type.Optional(word('Namespace: the box.', 63, DNS_LABEL)),
    uid: Type.Optional(Type.String({ description: 'Identity of the object; a new one when it is created again.' })),
    generation: Type.Optional(Type.Integer({ description: 'Number of the spec.' })),
    resourceVersion: Type.Optional(Type.String({ description: 'Version of the object.' })),
    creationTimestamp: Type.Optional(Type.String({ description: 'When the object was made.' })),
    deletionTimestamp: Type.Optional(Type.String({ description: 'When its deletion was asked for.' })),
  },
  { description: 'Metadata of the object.' },
);

function manifestSchema<K extends Kind, S extends TSchema>(kind: K, spec: S) {
  return Type.Object(
    {
      apiVersion: Type.Literal(API_VERSION, { description: 'Group and version.' }),
      kind: Type.Literal(kind, { description: 'Kind.' }),
      metadata,
      spec,
      status: Type.Optional(freeObject('Written by the operator, never read from a manifest.')),
    },
    { description: `A ${kind} as a custom resource.`, additionalProperties: false },
  );
}

/** The schema of a whole custom resource of each kind. */
export const manifestSchemas = {
  Client: manifestSchema('Client', clientSpec),
  AccessPolicy: manifestSchema('AccessPolicy', accessPolicySpec),
  Box: manifestSchema('Box', boxSpec),
  Group: manifestSchema('Group', groupSpec),
} as const satisfies Record<Kind, TSchema>;

/** A custom resource of each kind. */
export type ManifestOf<K extends Kind> = Manifests[K];

/** Computed once for each kind: for a generic kind this costs seconds in every type check. */
interface Manifests {
  readonly Client: Static<typeof manifestSchemas.Client>;
  readonly AccessPolicy: Static<typeof manifestSchemas.AccessPolicy>;
  readonly Box: Static<typeof manifestSchemas.Box>;
  readonly Group: Static<typeof manifestSchemas.Group>;
}

/** A custom resource of ours. */
export type Manifest = ManifestOf<Kind>;
