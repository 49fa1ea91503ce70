import Type, { type Static } from 'typebox';
import { listOf } from '../../crds/fields.ts';
import type { Resource } from '../../crds/validate.ts';
import { texts, time } from './member.ts';

const row = {
  kind: Type.Enum(['Client', 'AccessPolicy', 'Group', 'Box'], { type: 'string', description: 'The kind.' }),
  id: Type.String({ description: 'The ID; of a group, its name.' }),
};

const subject = Type.Object(
  {
    client: Type.Optional(Type.String({ description: 'The ID of the client.' })),
    user: Type.Optional(Type.Integer({ description: 'The ID of the user.' })),
    group: Type.Optional(Type.String({ description: 'The name of a group: some user in it.' })),
    any_user: Type.Optional(
      Type.Literal(true, { description: 'Some user, in no group or without the rights of the user.' }),
    ),
  },
  { description: 'The caller of a request.', additionalProperties: false },
);

/** Caller of a planned request: a client, a user with or without one, or some user of a group or of none. */
export type PlannedSubject = Static<typeof subject>;

const fault = Type.Object(
  {
    path: Type.String({ description: 'The field; empty for the whole.' }),
    message: Type.String({ description: 'The fault.' }),
  },
  { description: 'A fault of a resource.', additionalProperties: false },
);

const change = Type.Object(
  {
    ...row,
    result: Type.Enum(['created', 'changed', 'deleted', 'released', 'conflict', 'invalid'], { type: 'string' }),
    fields: Type.Optional(texts('For `changed`: the fields; `owner` if another object would have the row.')),
    faults: Type.Optional(
      listOf(fault, { description: 'For `invalid`; otherwise of parts that would have no effect.' }),
    ),
    detail: Type.Optional(Type.String({ description: 'For `conflict`: the reason.' })),
  },
  { description: 'A row that would change, or an object that would be refused.', additionalProperties: false },
);

/** A row that would change, or an object that would be refused. */
export type PlannedChange = Static<typeof change>;

const end = Type.Object(
  {
    id: Type.String({ description: 'The ID of the session.' }),
    client: Type.String({ description: 'The ID of the client.' }),
    user: Type.Optional(Type.Integer({ description: 'The ID of the user.' })),
    created_at: time('The time of issue.'),
  },
  { description: 'An active session whose token would no longer be accepted.', additionalProperties: false },
);

/** An active session whose token would no longer be accepted. */
export type PlannedEnd = Static<typeof end>;

const decision = Type.Object(
  {
    effect: Type.Enum(['gained', 'lost'], { type: 'string' }),
    subject,
    app: Type.Optional(Type.String({ description: 'The app behind a gateway.' })),
    method: Type.String({ description: 'The method.' }),
    path: Type.String({ description: 'The path, or the shape of a recorded one.' }),
    policy: Type.String({ description: 'The policy that grants it: before, for `lost`; after, for `gained`.' }),
    from: Type.Enum(['given', 'recorded'], { type: 'string' }),
    certain: Type.Boolean({ description: 'False if a policy looks at parts of requests that are not recorded.' }),
  },
  { description: 'A request whose decision would change.', additionalProperties: false },
);

/** A request whose decision would change. */
export type PlannedDecision = Static<typeof decision>;

/** The effect of a desired state, as `POST /$plan` answers. */
export const planSchema = Type.Object(
  {
    box: Type.String({ description: 'The box.' }),
    resources: listOf(change),
    secrets: texts('The clients whose secret changes.'),
    secrets_not_compared: texts('The clients whose given secret was not compared; it counts as unchanged.'),
    sessions: listOf(end),
    more_sessions: Type.Boolean({ description: 'True if there are more sessions than are listed.' }),
    decisions: listOf(decision),
    compared: Type.Object(
      { given: Type.Integer({ minimum: 0 }), recorded: Type.Integer({ minimum: 0 }) },
      { description: 'The number of requests that were compared.', additionalProperties: false },
    ),
  },
  { description: 'The effect of a desired state on a box.', additionalProperties: false },
);

/** The effect of a desired state on a box. */
export type PlanAnswer = Static<typeof planSchema>;

/** An object of the desired state. */
export const plannedObject = Type.Object(
  {
    ...row,
    name: Type.String({ description: 'The name of the object, which owns the row.' }),
    adopt: Type.Optional(Type.Enum(['unowned', 'force'], { type: 'string' })),
    retain: Type.Optional(Type.Literal(true)),
    purge: Type.Optional(Type.Literal(true)),
    suspended: Type.Optional(Type.Literal(true, { description: 'The row stays as it is.' })),
    /**
     * A Client's `secret` is the value if the desired state has it, null if the client should have none, and otherwise
     * absent: the stored secret stays, and a new client gets one.
     */
    resource: Type.Unsafe<Resource>(Type.Object({}, { description: 'The resource.' })),
  },
  { additionalProperties: false },
);

/** See {@link plannedObject}. */
export type PlannedObject = Static<typeof plannedObject>;

/** A line of a plan: an object of the desired state, or a request to compare. */
export const planLineSchema = Type.Union(
  [
    Type.Object(
      {
        object: plannedObject,
      },
      { description: 'An object of the desired state.' },
    ),
    Type.Object(
      { request: Type.Object({}, { description: 'A question, whose subject may have a `group`.' }) },
      { description: 'A request to compare.' },
    ),
  ],
  { description: 'One line of a plan.' },
);

/** A row of a box, as `GET /$export` lists it. */
export const exportedRowSchema = Type.Object(
  {
    ...row,
    kind: Type.Enum(['Client', 'AccessPolicy', 'Group', 'Box', 'Namespace'], {
      type: 'string',
      description: 'The kind; `Namespace` for the quotas of the box, if its Namespace sets some.',
    }),
    object: Type.Optional(Type.String({ description: 'The object that declares it.' })),
    retain: Type.Optional(Type.Literal(true, { description: 'It stays when its object is deleted.' })),
    purge: Type.Optional(Type.Literal(true, { description: 'All data of the box is deleted with its object.' })),
    has_secret: Type.Optional(Type.Boolean({ description: 'Of a client: true if it has a secret.' })),
    bootstrap_admin: Type.Optional(
      Type.Object(
        { email: Type.String({ description: 'The email.' }) },
        { description: 'Of a Box: its first admin, if that user exists.', additionalProperties: false },
      ),
    ),
    resource: Type.Object({}, { description: 'The resource, without secrets; of a Namespace, its `quota`.' }),
  },
  { description: 'A row of a box, and the object that declares it.', additionalProperties: false },
);
