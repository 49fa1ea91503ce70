import { endGrant } from '../../db/session/end-grant.ts';
import { deleteGrant, readGrant } from '../../db/user/grant.ts';
import type { GrantKey, StoredGrant } from '../../db/user/grant.ts';
import { changing } from '../../resources/write/change.ts';
import type { ChangingServices } from '../../resources/write/change.ts';
import { demandPreconditions } from '../../resources/write/etag.ts';
import type { Preconditions } from '../../resources/write/etag.ts';
import type { ResourceServices } from '../../resources/services.ts';

/** Returns the version of a grant: every change of it changes its time. */
export function grantVersion({ createdAt }: StoredGrant): string {
  return String(Date.parse(createdAt));
}

/**
 * Revokes the grant of a user to a client, with every code, session and refresh token that the client has of the user
 * (OWASP ASVS 5.0, 10.7.3); undefined when there was nothing. Throws Problem `precondition-failed`, and Outage.
 */
export function removeGrant(
  services: ChangingServices & Pick<ResourceServices, 'now'>,
  box: string,
  key: GrantKey,
  preconditions: Preconditions,
): Promise<StoredGrant | undefined> {
  return changing(services, box, async (connection, note) => {
    const grant = await readGrant(connection, box, key);
    demandPreconditions(preconditions, grant && grantVersion(grant));
    if (grant === undefined) return undefined;
    await endGrant(connection, box, key, services.now());
    // At the end: it locks the counts of the box, for which sign-ups wait.
    await deleteGrant(connection, box, key);
    note({ event: 'consent.removed', target: `Grant/${String(key.user)}.${key.client}` });
    return grant;
  });
}
