import type { Person } from '../../db/user/person.ts';
import { hasScope } from '../../oauth/scope-text.ts';
import type { LiveSession } from '../../oauth/session/check-token.ts';

/** Value of a header that would be empty: some gateways drop empty headers, and a missing one must mean nothing. */
const NONE = '-';

/**
 * Returns the headers that tell the app who is calling (docs/guides/gateways.md, Headers). None is empty, and those of
 * every answer are always there: a gateway that copies them then replaces what the caller has sent.
 */
export function identityHeaders({ id, client, user, scope }: LiveSession, policy: string): Record<string, string> {
  const email = user !== null && hasScope(scope, 'email') ? emailHeaders(user) : {};
  const names = user?.groups?.map(({ name }) => groupText(name)).join(',') ?? '';
  const groups = user !== null && hasScope(scope, 'groups') ? { 'X-Auth-Groups': names === '' ? NONE : names } : {};
  return {
    'X-Auth-Client': client.id,
    'X-Auth-User': user === null ? NONE : String(user.id),
    'X-Auth-Scope': scope === null || scope === '' ? NONE : scope,
    'X-Auth-Session': id,
    'X-Auth-Policy': policy,
    ...email,
    ...groups,
  };
}

/** Returns the email, and whether it is verified: `unknown` if nobody has said. */
function emailHeaders({ email, email_verified }: Person): Record<string, string> {
  return { 'X-Auth-Email': headerText(email), 'X-Auth-Email-Verified': email_verified?.toString() ?? 'unknown' };
}

/** Returns the name of a group; one that would read as {@link NONE} is encoded. */
function groupText(name: string): string {
  return name === NONE ? '%2D' : headerText(name);
}

/** Percent-encodes all but visible ASCII, and the two signs that have a meaning here: the percent and the comma. */
function headerText(value: string): string {
  return value.toWellFormed().replace(/[^\x21-\x7e]|[%,]/gu, encodeURIComponent);
}
