import { API_GROUP, KINDS, type Kind } from './kind.ts';
import { objectRules, specRules } from './manifest.ts';
import { manifestSchemas } from './manifest-schema.ts';
import { schemaNode, type SchemaNode } from './schema-node.ts';
import { statusSchemas } from './status.ts';

/** A column of `kubectl get`. */
interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  /** 1: only with `-o wide`. */
  readonly priority?: 1;
}

const ready: readonly Column[] = [
  { name: 'READY', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'REASON', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
];
const age: Column = { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Columns that `kubectl get` prints for each kind after the name. */
const COLUMNS = {
  Client: [
    { name: 'ID', type: 'string', jsonPath: '.status.id' },
    { name: 'GRANTS', type: 'string', jsonPath: '.status.grants' },
    { name: 'SECRET', type: 'string', jsonPath: '.status.secret' },
    { name: 'POLICIES', type: 'integer', jsonPath: '.status.policies' },
    ...ready,
    age,
    { name: 'LAST-TOKEN', type: 'date', jsonPath: '.status.lastTokenAt', priority: 1 },
    { name: 'SESSIONS', type: 'integer', jsonPath: '.status.sessions', priority: 1 },
  ],
  AccessPolicy: [
    { name: 'ENGINE', type: 'string', jsonPath: '.spec.engine' },
    { name: 'SUBJECTS', type: 'string', jsonPath: '.status.subjects' },
    ...ready,
    age,
  ],
  Group: [
    { name: 'MEMBERS', type: 'integer', jsonPath: '.status.members' },
    ...ready,
    age,
    { name: 'GROUP', type: 'string', jsonPath: '.status.name', priority: 1 },
  ],
  Box: [
    { name: 'ISSUER', type: 'string', jsonPath: '.status.issuer' },
    { name: 'CLIENTS', type: 'integer', jsonPath: '.status.clients' },
    { name: 'POLICIES', type: 'integer', jsonPath: '.status.policies' },
    { name: 'USERS', type: 'integer', jsonPath: '.status.users' },
    { name: 'DATABASE', type: 'string', jsonPath: '.status.database' },
    ...ready,
    age,
  ],
} as const satisfies Record<Kind, readonly Column[]>;

/** A part of a rule that the CRD carries. */
interface CelRule {
  readonly path: string;
  readonly message: string;
  readonly cel?: string;
}

const KIND_DESCRIPTIONS = {
  Client:
    'An OAuth 2.0 client of the box that its namespace is. It has no access to anything until an AccessPolicy grants it.',
  AccessPolicy: 'A rule that grants requests in the box that its namespace is. What no policy grants is denied.',
  Group:
    'A group of users of the box that its namespace is. Its members are data of the box: they are changed over REST.',
  Box: 'Settings of the box that its namespace is. A namespace without one is a box with the defaults.',
} as const satisfies Record<Kind, string>;

/** Returns the CustomResourceDefinition of a kind, as plain data in the order in which it is written. */
export function customResourceDefinition(kind: Kind) {
  const { plural, singular, shortName } = KINDS[kind];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${API_GROUP}` },
    spec: {
      group: API_GROUP,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [shortName], categories: ['boxgate'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: COLUMNS[kind],
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}

function objectSchema(kind: Kind) {
  const spec = structural(schemaNode(manifestSchemas[kind].properties.spec));
  return {
    type: 'object',
    description: KIND_DESCRIPTIONS[kind],
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'Group and version.' },
      kind: { type: 'string', description: 'Kind.' },
      metadata: { type: 'object' },
      spec: { ...spec, 'x-kubernetes-validations': validations(specRules[kind]) },
      status: structural(schemaNode(statusSchemas[kind])),
    },
    'x-kubernetes-validations': validations(objectRules[kind]),
  };
}

function validations(rules: readonly CelRule[]) {
  return rules.flatMap(({ path, message, cel }) => {
    if (cel === undefined) return [];
    const place = path.startsWith('metadata.') ? {} : { fieldPath: `.${path}` };
    return [{ rule: cel, message: `${path} ${message}`, ...place }];
  });
}

/**
 * Returns the parts of a schema that a CRD may hold: a structural schema refuses unknown fields by itself, and has
 * `set` where JSON Schema says that items are unique.
 */
function structural({
  additionalProperties,
  uniqueItems,
  properties,
  items,
  nullable: _,
  ...rest
}: SchemaNode): SchemaNode {
  return {
    ...rest,
    ...(uniqueItems === true ? { 'x-kubernetes-list-type': 'set' } : {}),
    ...(additionalProperties ? { additionalProperties: structural(additionalProperties) } : {}),
    ...(items === undefined ? {} : { items: structural(items) }),
    ...(properties === undefined ? {} : { properties: structuralProperties(properties) }),
  };
}

function structuralProperties(properties: Readonly<Record<string, SchemaNode>>): Record<string, SchemaNode> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, node]) => [name, { ...structural(node), ...onlyText(name, node) }]),
  );
}

/** Adds a CEL rule, evaluated on text only: the API server accepts a list in place of any text that has a format. */
function onlyText(name: string, { format }: SchemaNode): SchemaNode {
  if (format === undefined) return {};
  return { 'x-kubernetes-validations': [{ rule: 'self.getFullYear() > 0', message: `${name} must be a time` }] };
}
