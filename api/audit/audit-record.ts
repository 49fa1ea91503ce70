import Type, { type Static } from 'typebox';
import type { Log } from '../../program/log.ts';
import type { StoredAuditEvent } from '../db/audit/audit-event.ts';
import { uuidV7Time } from '../db/core/uuid-v7.ts';
import { refusals } from '../schemas/refusals.ts';
import { auditEvents } from './events.ts';

const text = (description: string) => Type.String({ description, minLength: 1, maxLength: 512 });

const reference = (description: string, kinds: readonly string[]) =>
  Type.Object(
    { resourceType: Type.Enum([...kinds]), id: Type.Optional(Type.String({ minLength: 1, maxLength: 320 })) },
    { description, additionalProperties: false },
  );

const targetKinds = ['User', 'Group', 'Client', 'AccessPolicy', 'Box', 'Session', 'Grant', 'AuditEvent'] as const;

const actor = Type.Object(
  {
    client: Type.Optional(reference('The authenticated client.', ['Client'])),
    user: Type.Optional(reference('The authenticated user.', ['User'])),
    remote_addr: Type.Optional(text('The address of the caller.')),
    operator: Type.Optional(
      text('The cluster whose operator acted, or `boxgate admin reset`. Such an event has no client and no user.'),
    ),
  },
  { description: 'Who did it. Empty: the service itself, or unknown.', additionalProperties: false },
);

/** Schema of a record: of the resource AuditEvent, and of `audit` in a line of the log. */
export const auditRecordSchema = Type.Object(
  {
    resourceType: Type.Literal('AuditEvent', { description: 'Always `AuditEvent`.' }),
    id: Type.String({ description: 'The ID, a UUIDv7.', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
    created_at: Type.String({ description: 'The time, RFC 3339 in UTC.', format: 'date-time' }),
    box: Type.String({ description: 'The box.', pattern: '^[a-z0-9-]{1,63}$' }),
    event: Type.Enum(Object.keys(auditEvents), { description: 'The name of the event, from the table below.' }),
    result: Type.Enum(['success', 'failure', 'denied'], {
      description: '`success`; `failure`: a proof was wrong; `denied`: a limit or the policies refused it.',
    }),
    actor,
    target: Type.Optional(
      reference('What it was done to; without an `id` all of a kind, or one that cannot be there.', targetKinds),
    ),
    member: Type.Optional(reference('The user who joined or left the group in `target`.', ['User'])),
    session: Type.Optional(text('The session of the token that was used.')),
    request_id: Type.Optional(text('The `X-Request-Id` of the response, also in the log.')),
    changed: Type.Optional(
      Type.Array(Type.String({ maxLength: 128 }), { description: 'Names of the changed fields, never their values.' }),
    ),
    reason: Type.Optional(
      Type.Enum(Object.keys(refusals), { description: 'Why a request was refused (docs/reference/refusals.md).' }),
    ),
    sent: Type.Optional(text('What the reason is about: a part of the request, or a sentence about it; no secret.')),
    count: Type.Integer({ description: 'How often it happened: events of one minute can be one record.', minimum: 1 }),
  },
  { description: 'A record of the audit trail.', additionalProperties: false },
);

/** A record of the audit trail as it is shown. */
export type AuditRecord = Static<typeof auditRecordSchema>;

/** The fields of a record. */
export const auditElements = Object.keys(auditRecordSchema.properties);

/** Shows a record of a box. */
export function auditRecord(box: string, stored: StoredAuditEvent): AuditRecord {
  const { id, event, result, client, user, remoteAddr, operator, target, member, session, requestId, changed } = stored;
  const { reason, sent } = stored;
  return {
    resourceType: 'AuditEvent',
    id,
    created_at: new Date(uuidV7Time(id)).toISOString(),
    box,
    event,
    result,
    actor: {
      ...(client !== undefined && { client: { resourceType: 'Client', id: client } }),
      ...(user !== undefined && { user: { resourceType: 'User', id: String(user) } }),
      ...(remoteAddr !== undefined && { remote_addr: remoteAddr }),
      ...(operator !== undefined && { operator }),
    },
    ...(target !== undefined && { target: referenceOf(target) }),
    ...(member !== undefined && { member: { resourceType: 'User', id: String(member) } }),
    ...(session !== undefined && { session }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(changed !== undefined && { changed: [...changed] }),
    ...(reason !== undefined && { reason }),
    ...(sent !== undefined && { sent }),
    count: stored.count,
  };
}

function referenceOf(target: string): { resourceType: string; id?: string } {
  const at = target.indexOf('/');
  const [resourceType, id] = [target.slice(0, at), target.slice(at + 1)];
  return id === '' ? { resourceType } : { resourceType, id };
}

/** Returns a function that writes records of a box to a log, one line a record: its member `audit` has the record. */
export function auditLines(log: Log) {
  return (box: string, records: readonly StoredAuditEvent[]): void => {
    for (const record of records) log.info({ audit: auditRecord(box, record) }, 'audit event');
  };
}
