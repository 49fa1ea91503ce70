/** A security event: its possible target, and its meaning for the page docs/audit.md. */
interface AuditEventMeaning {
  readonly target: string;
  readonly meaning: string;
}

/** Every security event, by its name. */
export const auditEvents = {
  'user.created': { target: 'User', meaning: 'a user was created' },
  'user.changed': { target: 'User', meaning: 'fields of a user changed' },
  'user.password_changed': { target: 'User', meaning: 'a user has a new password' },
  'user.deleted': { target: 'User', meaning: 'a user was deleted' },
  'user.signed_up': { target: 'User', meaning: 'a user registered' },
  'client.created': { target: 'Client', meaning: 'a client was created' },
  'client.changed': { target: 'Client', meaning: 'fields of a client changed' },
  'client.deleted': { target: 'Client', meaning: 'a client was deleted, and its sessions ended' },
  'policy.created': { target: 'AccessPolicy', meaning: 'an access policy was created' },
  'policy.changed': { target: 'AccessPolicy', meaning: 'fields of an access policy changed' },
  'policy.deleted': { target: 'AccessPolicy', meaning: 'an access policy was deleted' },
  'settings.created': { target: 'Box', meaning: 'the box has its first settings' },
  'settings.changed': { target: 'Box', meaning: 'settings of the box changed' },
  'settings.deleted': { target: 'Box', meaning: 'the settings of the box are the defaults again' },
  'session.revoked': { target: 'Session', meaning: 'a session was revoked over REST' },
  'consent.removed': { target: 'Grant', meaning: 'what a user had let a client have was taken back' },
  'box.quota_changed': { target: 'Box', meaning: 'the quotas of the box changed' },
  'box.locked': { target: 'Box', meaning: 'another namespace of the same name claims the box' },
  'box.closed': { target: 'Box', meaning: 'the namespace of the box is missing: it serves nothing' },
  'box.reopened': { target: 'Box', meaning: 'the namespace of the box is back' },
  'box.adopted': { target: 'Box', meaning: 'another namespace has taken over the box with its data' },
  'box.data_deleted': { target: 'Box', meaning: 'the data of the box was deleted, and its older records' },
  'group.created': { target: 'Group', meaning: 'a group was created' },
  'group.changed': { target: 'Group', meaning: 'name or description of a group changed' },
  'group.deleted': { target: 'Group', meaning: 'a group was deleted, and its members left it' },
  'group.member_added': { target: 'Group', meaning: 'a user, `member`, joined a group' },
  'group.member_removed': { target: 'Group', meaning: 'a user, `member`, left a group' },
} as const satisfies Readonly<Record<string, AuditEventMeaning>>;

/** Name of a security event. */
export type AuditEventName = keyof typeof auditEvents;

/** Checks whether a text is the name of a security event. */
export function isAuditEventName(text: string): text is AuditEventName {
  return Object.hasOwn(auditEvents, text);
}
