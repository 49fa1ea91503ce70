import type { LiveSession } from '../../oauth/session/check-token.ts';

/**
 * Returns the headers that tell the app who is calling (docs/gateways.md, Headers). Those of every answer are sent even
 * if they are empty: a gateway that copies them then replaces what the caller has sent.
 */
export function identityHeaders({ id, client, user, scope }: LiveSession, policy: string): Record<string, string> {
  const scopes = new Set(scope?.split(' '));
  const email = user !== null && scopes.has('email') ? { 'X-Auth-Email': headerText(user.email) } : {};
  const names = user?.groups?.map(({ name }) => headerText(name)).join(',') ?? '';
  const groups = user !== null && scopes.has('groups') ? { 'X-Auth-Groups': names } : {};
  return {
    'X-Auth-Client': client.id,
    'X-Auth-User': user === null ? '' : String(user.id),
    'X-Auth-Scope': scope ?? '',
    'X-Auth-Session': id,
    'X-Auth-Policy': policy,
    ...email,
    ...groups,
  };
}

/** Percent-encodes all but visible ASCII, and the two signs that have a meaning here: the percent and the comma. */
function headerText(value: string): string {
  return value.toWellFormed().replace(/[^\x21-\x7e]|[%,]/gu, encodeURIComponent);
}
