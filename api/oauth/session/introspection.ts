import type { Person } from '../../db/user.ts';
import { authenticateClient } from '../client-auth/authenticate-client.ts';
import { checkToken } from './check-token.ts';
import type { LiveSession } from './check-token.ts';
import type { RequestChecks } from '../client-auth/context.ts';
import { OAuthError } from '../oauth-error.ts';
import { hasScope, withoutClaims } from '../scope-text.ts';
import { groupsClaim } from '../openid/user-claims.ts';
import { findRefreshToken } from '../refresh/validate-refresh.ts';
import type { FoundFamily } from '../refresh/validate-refresh.ts';
import type { LiveIntrospection } from '../../schemas/oauth.ts';
import type { OAuthServices } from '../services.ts';
import type { TokenRequest } from '../token/grants/grant.ts';

/** The answer of RFC 7662 §2.2; for an invalid token it is exactly `{"active":false}`. */
export type Introspection = { readonly active: false } | LiveIntrospection;

const inactive = { active: false } as const;

/** Serves introspection (RFC 7662) to any authenticated client, for any token of its box. Throws OAuthError, Outage. */
export async function introspect(
  { box, credentials, parameters }: TokenRequest,
  services: OAuthServices,
  checks: RequestChecks,
): Promise<Introspection | undefined> {
  const text = parameters.get('token');
  if (text === undefined) throw new OAuthError('invalid_request', 'token is missing');
  return services.states.decide<Introspection>(box, async (state, statements, transaction) => {
    const context = { state, statements, transaction, services, checks };
    await authenticateClient(credentials, context);
    if (text.startsWith('bgr_')) {
      const found = await findRefreshToken(text, context);
      return found === undefined ? inactive : familyIntrospection(found, services.issuer(state));
    }
    const live = await checkToken(text, context);
    return live === undefined ? inactive : introspection(live, services.issuer(state));
  });
}

function introspection(session: LiveSession, issuer: string): LiveIntrospection {
  const id = session.client.id;
  return {
    active: true,
    client_id: id,
    token_type: 'Bearer',
    exp: session.expiresAt,
    iat: session.issuedAt,
    ...subjectOf(id, session.user, session.scope),
    iss: issuer,
    aud: session.audience === null || session.audience.length === 0 ? [issuer] : session.audience,
    jti: session.id,
    ...(session.scope === null ? {} : { scope: session.scope }),
    ...groupsClaim(session.user, session.scope),
  };
}

function familyIntrospection({ family, gives }: FoundFamily, issuer: string): Introspection {
  if (gives === undefined) return inactive;
  const scope = withoutClaims(gives.scope);
  return {
    active: true,
    client_id: family.client,
    exp: Math.floor(gives.endsAt / 1000),
    iat: Math.floor(family.createdAt / 1000),
    ...subjectOf(family.client, family.person, scope),
    iss: issuer,
    ...(scope === null ? {} : { scope }),
    ...groupsClaim(family.person, scope),
  };
}

/**
 * Returns the members about the subject: a client, or a user (RFC 7662 §2.2). The email needs the scope `email`, as
 * everywhere: the client of the token may introspect it too (§5).
 */
function subjectOf(
  client: string,
  user: Pick<Person, 'id' | 'email'> | null,
  scope: string | null,
): Pick<LiveIntrospection, 'sub' | 'username'> {
  if (user === null) return { sub: client };
  return { sub: String(user.id), ...(hasScope(scope, 'email') ? { username: user.email } : {}) };
}
