import { endGrant, deleteGrant, grantListing, readGrant } from '../db/grant.ts';
import type { GrantKey, StoredGrant } from '../db/grant.ts';
import { requestedClaims, scopeText, withoutClaims } from '../oauth/scope-text.ts';
import { readDates, clientIdIn, readUserId } from './search/values.ts';
import { searchable } from './search/search.ts';
import type { ResourceServices } from './services.ts';
import { changing } from './write/change.ts';
import type { ChangingServices } from './write/change.ts';
import { demandPreconditions } from './write/conditions.ts';
import type { Preconditions } from './write/conditions.ts';
import { grantSchema } from '../schemas/account.ts';
import type { GrantView } from '../schemas/account.ts';
import { defineRecord } from './record.ts';

/** Grants: what users have allowed clients. Consent creates and changes them. */
export const grant = defineRecord({
  kind: 'Grant',
  search: searchable(grantListing, {
    elements: new Set(Object.keys(grantSchema.properties)),
    sort: 'id',
    // The id of a user or client may be written as in a link.
    filters: {
      user: (text, name) => ({ user: readUserId(name, text) }),
      client: (text) => ({ client: clientIdIn(text) }),
    },
    ranges: { created_at: (texts, name) => ({ createdAt: readDates(name, texts) }) },
  }),
  view: grantView,
  version,
  idOf: grantKey,
  read: readGrant,
  remove: removeGrant,
});

/** Shows a grant; a scope is null where the user has allowed none, an audience where it is the issuer. */
export function grantView({ user, client, scopes, targets, createdAt }: StoredGrant): GrantView {
  return {
    resourceType: 'Grant',
    id: `${String(user)}.${client}`,
    user: { resourceType: 'User', id: String(user) },
    client: { resourceType: 'Client', id: client },
    ...allowedTo(scopes),
    consents: targets.map(({ redirect_uri, audience, scopes: allowed }) => {
      return { redirect_uri, audience, ...allowedTo(allowed) };
    }),
    created_at: new Date(createdAt).toISOString(),
  };
}

function allowedTo(words: readonly string[]): Pick<GrantView, 'scope' | 'claims'> {
  const claims = [...new Set(requestedClaims(words).map(({ name }) => name))];
  return { scope: withoutClaims(scopeText(words)), ...(claims.length === 0 ? {} : { claims }) };
}

/** A grant's id: the user's, a dot, the client's. No user's id has a dot. */
export const grantId = /^([1-9]\d{0,14})\.([A-Za-z0-9][A-Za-z0-9._~-]{0,127})$/;

/** Returns the user and client in an id; undefined if no grant can have it. */
export function grantKey(id: string): GrantKey | undefined {
  const [, user, client] = grantId.exec(id) ?? [];
  return user === undefined || client === undefined ? undefined : { user: Number(user), client };
}

/** Returns the version of a grant: every change of it changes its time. */
function version({ createdAt }: StoredGrant): string {
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
    const present = await readGrant(connection, box, key);
    demandPreconditions(preconditions, present && version(present));
    if (present === undefined) return undefined;
    await endGrant(connection, box, key, services.now());
    // At the end: it locks the counts of the box, for which sign-ups wait.
    await deleteGrant(connection, box, key);
    note({ event: 'consent.removed', target: `Grant/${String(key.user)}.${key.client}` });
    return present;
  });
}
