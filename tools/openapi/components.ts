import type { TSchema } from 'typebox';
import { auditRecordSchema } from '../../api/audit/audit-record.ts';
import { questionSchema } from '../../api/http/resources/question.ts';
import { accountSchema, passwordChangeSchema } from '../../api/schemas/account.ts';
import { bundleOf } from '../../api/schemas/bundle.ts';
import { explanationSchema } from '../../api/schemas/explanation.ts';
import { grantSchema } from '../../api/schemas/grant.ts';
import { groupSchema, submittedGroupSchema } from '../../api/schemas/group.ts';
import { introspectionSchema, tokenResponseSchema } from '../../api/schemas/oauth.ts';
import { exportedRowSchema, planLineSchema, planSchema } from '../../api/schemas/plan.ts';
import { policyUsageSchema, recordedRequestSchema } from '../../api/schemas/policy-usage.ts';
import { oauthErrorSchema, operationOutcomeSchema } from '../../api/schemas/problems.ts';
import { sessionSchema } from '../../api/schemas/session.ts';
import { accessPolicyView, clientView } from '../../api/schemas/stored.ts';
import {
  changedUserSchema,
  listedUserSchema,
  newUserSchema,
  userFaultsSchema,
  userSchema,
} from '../../api/schemas/user.ts';
import { accessPolicySchema } from '../../crds/access-policy.ts';
import { clientSchema } from '../../crds/client.ts';
import { isObject } from '../../crds/path.ts';
import type { JsonObject } from '../../crds/path.ts';
import { jsonWebKeySetSchema, metadataSchema, userInfoSchema } from './discovery.ts';
import { EXAMPLES } from './examples.ts';
import { partOf, plainSchema } from './schema.ts';

/** Kinds of resources that are shown in parts with `_elements`, and in Bundles. */
const LISTED = {
  Client: clientView,
  AccessPolicy: accessPolicyView,
  Session: sessionSchema,
  Group: groupSchema,
  Grant: grantSchema,
  AuditEvent: auditRecordSchema,
} as const satisfies Record<string, TSchema>;

const OTHERS = {
  SubmittedClient: clientSchema,
  SubmittedAccessPolicy: accessPolicySchema,
  SubmittedGroup: submittedGroupSchema,
  User: userSchema,
  ListedUser: listedUserSchema,
  NewUser: newUserSchema,
  ChangedUser: changedUserSchema,
  UserFaults: userFaultsSchema,
  Account: accountSchema,
  PasswordChange: passwordChangeSchema,
  Question: questionSchema,
  Explanation: explanationSchema,
  PolicyUsage: policyUsageSchema,
  RecordedRequest: recordedRequestSchema,
  ExportedRow: exportedRowSchema,
  PlanLine: planLineSchema,
  Plan: planSchema,
  TokenResponse: tokenResponseSchema,
  Introspection: introspectionSchema,
  OAuthError: oauthErrorSchema,
  OperationOutcome: operationOutcomeSchema,
  ServerMetadata: metadataSchema,
  JsonWebKeySet: jsonWebKeySetSchema,
  UserInfo: userInfoSchema,
} as const satisfies Record<string, TSchema>;

/** Returns every schema of the document, by its name. */
export function schemas(): Record<string, JsonObject> {
  const listed = Object.entries(LISTED).flatMap(([name, schema]): [string, JsonObject][] => {
    const shown = plainSchema(schema);
    return [
      [name, shown],
      [`${name}Part`, partOf(shown, `A ${name} with the fields only that \`_elements\` names.`)],
      [`${name}Bundle`, bundle(name, schema)],
    ];
  });
  const others = Object.entries(OTHERS).map(([name, schema]): [string, JsonObject] => [name, plainSchema(schema)]);
  const all = Object.fromEntries([...listed, ...others, ...PATCHES]);
  return Object.fromEntries(
    Object.entries(all).map(([name, schema]) => {
      const examples = EXAMPLES[name];
      return [name, examples === undefined ? schema : { ...schema, examples }];
    }),
  );
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

const PATCHES: readonly [string, JsonObject][] = [
  [
    'MergePatch',
    {
      type: 'object',
      description: 'Members to replace; null removes one (RFC 7396).',
      examples: [{ description: 'Nightly reports' }],
    },
  ],
  [
    'JsonPatch',
    {
      type: 'array',
      description: 'Operations (RFC 6902).',
      items: { type: 'object', required: ['op', 'path'] },
      examples: [[{ op: 'replace', path: '/description', value: 'Nightly reports' }]],
    },
  ],
  [
    'SessionState',
    {
      type: 'object',
      description:
        'A session, of which `active` can be set to false, or `status` to `revoked`. Other fields stay as they were read.',
      examples: [{ active: false }],
    },
  ],
];
