import type { GrantKey, StoredGrant } from '../../db/user/grant.ts';
import { requestedClaims, scopeText, withoutClaims } from '../../oauth/scope-text.ts';
import { grantSchema } from '../../schemas/grant.ts';
import type { GrantView } from '../../schemas/grant.ts';

/** The fields of a grant as it is shown. */
export const grantElements = Object.keys(grantSchema.properties);

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

/** Returns the user and client in an id of this form. Throws a TypeError for another text. */
export function grantKey(id: string): GrantKey {
  const [, user, client] = grantId.exec(id) ?? [];
  if (user === undefined || client === undefined) throw new TypeError('not the id of a grant');
  return { user: Number(user), client };
}
