import Type, { type Static } from 'typebox';
import { MANY_LINES, RESOURCE_ID, freeObject, prose, word } from './fields.ts';
import { storedLink, submittedLink, type Link } from './links.ts';

/** Engines that decide by themselves; `complex` combines them. */
export const RULE_ENGINES = ['allow', 'json-schema', 'matcho', 'cel'] as const;

/** Every engine. */
export const ENGINES = [...RULE_ENGINES, 'complex'] as const;

/** Subjects that a policy can concern. */
export const SUBJECTS = ['linked', 'authenticated', 'anyone'] as const;

const ruleFields = {
  schema: Type.Optional(
    freeObject('Rule of engine `json-schema`: a JSON Schema (2020-12, or draft-07 by `$schema`) of the request.'),
  ),
  matcho: Type.Optional(freeObject('Rule of engine `matcho`: a pattern that the request must match.')),
  expression: Type.Optional(
    Type.String({
      description: 'Rule of engine `cel`: one boolean expression over the request.',
      minLength: 1,
      maxLength: 8192,
      pattern: MANY_LINES,
    }),
  ),
};

/** Form of an app's name: a host in lower case, or any word of this form that the gateway sends. */
export const APP_NAME = '[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?';

/** Form of an entry of `apps`. */
export const APP_NAME_OR_ALL = `^(?:\\*|${APP_NAME})$`;

/** Characters of an app's name at most, as of a host (RFC 1035 §2.3.4). */
export const LONGEST_APP_NAME = 253;

const nestedRule = Type.Object(
  {
    engine: Type.Enum([...RULE_ENGINES], { type: 'string', description: 'How this rule decides.' }),
    ...ruleFields,
  },
  { description: 'One rule of another engine; `complex` does not nest.', additionalProperties: false },
);

function ruleList(description: string) {
  return Type.Array(nestedRule, { description, minItems: 1, maxItems: 32 });
}

/** Fields of an AccessPolicy that are the same in a custom resource and over REST. */
export const accessPolicyFields = {
  engine: Type.Enum([...ENGINES], { type: 'string', description: 'How the policy decides.' }),
  link: Type.Optional(
    Type.Array(submittedLink, {
      description: 'Clients, users and groups of the same box that the policy concerns.',
      maxItems: 500,
    }),
  ),
  subjects: Type.Optional(
    Type.Enum([...SUBJECTS], {
      type: 'string',
      description:
        'Whom the policy concerns: the linked ones only (`linked` by default; without links nobody), every authenticated subject, or everybody.',
    }),
  ),
  apps: Type.Optional(
    Type.Array(word('Name of an app, by default its host, or `*`.', LONGEST_APP_NAME, APP_NAME_OR_ALL), {
      description:
        'Apps behind a gateway that the policy applies to, instead of the own endpoints of the box; `*` is every app.',
      minItems: 1,
      maxItems: 100,
    }),
  ),
  ...ruleFields,
  and: Type.Optional(ruleList('Rule of engine `complex`: all of these must hold.')),
  or: Type.Optional(ruleList('Rule of engine `complex`: one of these must hold.')),
  description: Type.Optional(prose('What the policy is for, for people.')),
};

/** Identifier of an AccessPolicy. */
export const accessPolicyId = word('Identifier of the policy.', 128, RESOURCE_ID);

/** An AccessPolicy as it is submitted over REST or by the operator. */
export const accessPolicySchema = Type.Object(
  {
    resourceType: Type.Literal('AccessPolicy', { description: 'Always `AccessPolicy`.' }),
    id: accessPolicyId,
    ...accessPolicyFields,
  },
  { description: 'A rule that grants requests; what no policy grants is denied.', additionalProperties: false },
);

/** An AccessPolicy as submitted: its links may have either form. */
export type SubmittedAccessPolicy = Static<typeof accessPolicySchema>;
/** An AccessPolicy in the form that is stored. */
export type AccessPolicy = Omit<SubmittedAccessPolicy, 'link'> & { link?: Link[] };
/** One rule in `and` or `or`. */
export type NestedRule = Static<typeof nestedRule>;
/** Name of the engine that decides for a policy. */
export type Engine = AccessPolicy['engine'];

/** Returns a valid policy with its links in the stored form. */
export function storedPolicy({ link, ...policy }: SubmittedAccessPolicy): AccessPolicy {
  return link === undefined ? policy : { ...policy, link: link.flatMap((one) => storedLink(one) ?? []) };
}
