import { readFileSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { parse } from 'yaml';
import { auditRecordSchema } from '../../api/audit/audit-record.ts';
import { questionSchema } from '../../api/http/resources/question.ts';
import { serverMetadata } from '../../api/oauth/metadata.ts';
import { SCOPE_OF_CLAIM } from '../../api/oauth/openid/user-claims.ts';
import { accountSchema, passwordChangeSchema, grantSchema, sessionSchema } from '../../api/schemas/account.ts';
import { bundleOf, accessPolicyView, clientView, submittedClient } from '../../api/schemas/stored.ts';
import {
  clientUsageSchema,
  explanationSchema,
  policyUsageSchema,
  recordedRequestSchema,
} from '../../api/schemas/explanation.ts';
import { groupSchema, submittedGroupSchema } from '../../api/schemas/group.ts';
import { introspectionSchema, tokenResponseSchema } from '../../api/schemas/oauth.ts';
import { exportedRowSchema, planLineSchema, planSchema } from '../../api/schemas/plan.ts';
import { oauthErrorSchema, operationOutcomeSchema } from '../../api/schemas/problems.ts';
import * as user from '../../api/schemas/user.ts';
import { accessPolicySchema } from '../../crds/access-policy.ts';
import { isList, isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';

/** Kinds of resources that are shown in parts with `_elements`, and in Bundles. */
const LISTED: Readonly<Record<string, TSchema>> = {
  Client: clientView,
  AccessPolicy: accessPolicyView,
  Session: sessionSchema,
  Group: groupSchema,
  Grant: grantSchema,
  AuditEvent: auditRecordSchema,
};

const text = { type: 'string' };

const OTHERS: Readonly<Record<string, object>> = {
  SubmittedClient: submittedClient,
  SubmittedAccessPolicy: accessPolicySchema,
  SubmittedGroup: submittedGroupSchema,
  User: user.userSchema,
  ListedUser: user.listedUserSchema,
  NewUser: user.newUserSchema,
  ChangedUser: user.changedUserSchema,
  UserFaults: user.userFaultsSchema,
  Account: accountSchema,
  PasswordChange: passwordChangeSchema,
  Question: questionSchema,
  Explanation: explanationSchema,
  PolicyUsage: policyUsageSchema,
  ClientUsage: clientUsageSchema,
  RecordedRequest: recordedRequestSchema,
  ExportedRow: exportedRowSchema,
  PlanLine: planLineSchema,
  Plan: planSchema,
  TokenResponse: tokenResponseSchema,
  Introspection: introspectionSchema,
  OAuthError: oauthErrorSchema,
  OperationOutcome: operationOutcomeSchema,
  ServerMetadata: closed('Metadata of the server (RFC 8414 §2, OpenID Connect Discovery §3).', metadataMembers()),
  JsonWebKeySet: closed('Public keys: the next, the current and the previous ones.', {
    keys: { type: 'array', items: jsonWebKey() },
  }),
  UserInfo: closed(
    'Claims about the user.',
    {
      sub: { ...text, description: 'The ID of the user.' },
      // Those that come from `data` have any JSON type.
      ...Object.fromEntries([...SCOPE_OF_CLAIM.keys()].map((name) => [name, {}])),
    },
    ['sub'],
  ),
  MergePatch: { type: 'object', description: 'Members to replace; null removes one (RFC 7396).' },
  JsonPatch: {
    type: 'array',
    description: 'Operations (RFC 6902).',
    items: { type: 'object', required: ['op', 'path'] },
  },
  SessionState: {
    type: 'object',
    description:
      'A session, of which `active` can be set to false, or `status` to `revoked`. Other fields stay as they were read.',
  },
};

/** Returns every schema of the document, by its name. */
export function schemas(): Record<string, JsonObject> {
  const examples: unknown = parse(readFileSync(new URL('./examples.yaml', import.meta.url), 'utf8'));
  const listed = Object.entries(LISTED).flatMap(([name, schema]): [string, JsonObject][] => {
    const shown = plainSchema(schema);
    return [
      [name, shown],
      [`${name}Part`, partOf(shown, `A ${name} with the fields only that \`_elements\` names.`)],
      [`${name}Bundle`, bundle(name, schema)],
    ];
  });
  const others = Object.entries(OTHERS).map(([name, schema]): [string, JsonObject] => [name, plainSchema(schema)]);
  return Object.fromEntries(
    [...listed, ...others].map(([name, schema]) => {
      const own = isObject(examples) ? examples[name] : undefined;
      return [name, own === undefined ? schema : { ...schema, examples: own }];
    }),
  );
}

function closed(description: string, properties: object, required = Object.keys(properties)): JsonObject {
  return { type: 'object', required, properties, description, additionalProperties: false };
}

/** Returns the members of the metadata of a box without settings, clients and keys. */
function metadataMembers(): JsonObject {
  const metadata = serverMetadata('https://auth.example.com', {
    settings: { resourceType: 'Box', id: 'box' },
    clients: new Map(),
    keys: { all: [], find: () => undefined, signing: () => undefined },
  });
  const memberLike = (value: unknown): object => {
    return Array.isArray(value) ? { description: 'Names.', type: 'array', items: text } : { type: typeof value };
  };
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, memberLike(value)]));
}

/** Returns the schema of a public key (RFC 7517 §4). */
function jsonWebKey(): JsonObject {
  const properties = {
    kty: { enum: ['EC', 'RSA', 'OKP'], type: 'string' },
    ...{ kid: text, alg: text, use: { type: 'string', const: 'sig' } },
    ...Object.fromEntries(['crv', 'x', 'y', 'n', 'e'].map((name) => [name, text])),
  };
  return closed('A public key.', properties, ['kty', 'kid', 'alg', 'use']);
}

/** Returns a schema as plain JSON Schema 2020-12, the dialect of OpenAPI 3.1. Throws a TypeError for another value. */
function plainSchema(schema: object): JsonObject {
  const converted = converting(JSON.parse(JSON.stringify(schema)));
  if (isObject(converted)) return converted;
  throw new TypeError('not a schema');
}

/** Keywords `x-kubernetes-…` and `nullable` of custom resource definitions mean nothing in a JSON Schema. */
function converting(value: unknown): unknown {
  if (isList(value)) return value.map(converting);
  if (!isObject(value)) return value;
  const { nullable, ...members } = value;
  const isNullable = nullable === true && typeof members['type'] === 'string';
  const kept = Object.entries(members).filter(([name]) => !name.startsWith('x-kubernetes-'));
  const entries = kept.map(([name, member]): [string, unknown] => [name, converting(member)]);
  return Object.fromEntries([...entries, ...(isNullable ? [['type', [members['type'], 'null']]] : [])]);
}

/** Returns a schema of an object of which any members may be missing except its type and its ID. */
function partOf(schema: JsonObject, description: string): JsonObject {
  const required = isList(schema['required']) ? schema['required'] : [];
  return { ...schema, description, required: required.filter((name) => name === 'resourceType' || name === 'id') };
}

/** Returns the schema of a Bundle, which refers to its resources by name. */
function bundle(name: string, schema: TSchema): JsonObject {
  const { properties, ...rest } = plainSchema(bundleOf(schema));
  const items = {
    type: 'object',
    required: ['resource'],
    properties: { resource: eitherPart(name) },
    additionalProperties: false,
  };
  const entry = { description: 'The resources of this page.', type: 'array', items };
  return { ...rest, properties: { ...(isObject(properties) ? properties : {}), entry } };
}

/** Returns the schema of a resource that may be shown in parts. */
export function eitherPart(name: string): JsonObject {
  return { anyOf: [schemaRef(name), schemaRef(`${name}Part`)] };
}

/** Returns the reference to a schema. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
