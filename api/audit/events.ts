/** A security event: its possible target, and its meaning for the page docs/reference/audit.md. */
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
  'user.signed_in': { target: 'User', meaning: 'a user signed in: at the sign-in page, or in the password grant' },
  'user.sign_in_failed': {
    target: 'User',
    meaning:
      'a password was wrong, or its user inactive: at the sign-in page, in the password grant, as `old_password`',
  },
  'user.throttled': { target: 'User', meaning: 'a password was not verified, because too many had failed' },
  'user.signed_out': {
    target: 'User',
    meaning:
      'a user signed out, or another one (the actor) signed in with the same browser; what was begun with the sign-in ended',
  },
  'client.authentication_failed': { target: 'Client', meaning: 'a client did not prove its identity' },
  'client.request_refused': {
    target: 'Client',
    meaning: 'a request of a client was refused',
  },
  'client.throttled': {
    target: 'none',
    meaning: 'a secret or refresh token was not verified, because too many had failed',
  },
  'token.refused': { target: 'none', meaning: 'an access token was not valid, or not for this' },
  'origin.refused': { target: 'none', meaning: 'a script of a site that is not listed sent a request' },
  'access.denied': { target: 'the kind of resource; none for an app', meaning: 'no access policy granted a request' },
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
  'session.closed': {
    target: 'Client',
    meaning: 'a token was used to close its own session, or was revoked by its client (RFC 7009)',
  },
  'refresh_token.reused': { target: 'Client', meaning: 'a used refresh token came again, and its family was revoked' },
  'code.reused': { target: 'Client', meaning: 'a redeemed code came again, and what it had issued was revoked' },
  'service_account.created_again': { target: 'Client', meaning: 'a ServiceAccount of a client is another one now' },
  'keys.rotated': { target: 'Box', meaning: 'signing keys of the box moved on' },
  'consent.given': { target: 'Grant', meaning: 'a user let a client have what it asked for' },
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
