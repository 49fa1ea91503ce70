import { hash } from 'node:crypto';
import type { Box, CustomScopes } from '../../../../crds/box.ts';
import { hasScope, requestedClaims, scopesOf, withoutClaims } from '../../scope-text.ts';
import type { OAuthServices } from '../../services.ts';
import { validateAuthorizationRequest } from './authorization-request.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { Prompt } from './prompt.ts';
import { ID_TOKEN_LIFETIME } from '../../openid/id-token.ts';
import { refreshLifetimes } from '../../refresh/settings.ts';

/** An authorization request as it is shown to users. */
export interface DescribedRequest {
  readonly client: { readonly id: string; readonly name: string | undefined };
  readonly scopes: readonly string[];
  /** Names of the claims that the request asks for. */
  readonly claims: readonly string[];
  /** The sentences of the box for scopes of its own. */
  readonly sentences: CustomScopes;
  /** The service that the token is for: the issuer, or another audience of the client. */
  readonly audience: string;
  readonly redirectUri: string;
  /** Seconds until the granted access ends at the latest. */
  readonly lifetime: number;
  readonly loginHint: string | undefined;
  readonly prompt: Prompt;
  /** Digest that the user's answer repeats ({@link shownDigest}). */
  readonly shown: string;
}

/**
 * Describes a request under the box's present configuration; `untrusted` when nothing of it may be shown as an app's
 * request, `refused` when its client will get an error. Undefined when there is no such box. Throws Outage.
 */
export function describeRequest(
  box: string,
  query: string,
  services: Pick<OAuthServices, 'states' | 'issuer'>,
): Promise<DescribedRequest | 'untrusted' | 'refused' | undefined> {
  return services.states.decide(box, async (state) => {
    const validated = validateAuthorizationRequest(query, state, services.issuer(state));
    return validated.verdict === 'good' ? described(validated.request, state.settings) : validated.verdict;
  });
}

function described(request: AuthorizationRequest, settings: Box): DescribedRequest {
  const { plan, target, loginHint, prompt } = request;
  const { client } = request.client;
  return {
    client: { id: client.id, name: client.name },
    scopes: scopesOf(withoutClaims(plan.scope)),
    claims: [...new Set(requestedClaims(scopesOf(plan.scope)).map(({ name }) => name))],
    sentences: settings.scopes ?? {},
    audience: plan.audience?.[0] ?? target.issuer,
    redirectUri: target.redirectUri,
    lifetime: shownLifetime(request, settings),
    loginHint,
    prompt,
    shown: shownDigest(request, settings),
  };
}

/**
 * Returns a digest of what the consent page shows of a request. The answer repeats it: after a change of the client, or
 * of the sentence of a scope, the client must not receive more than its user has read.
 */
export function shownDigest(request: AuthorizationRequest, settings: Box): string {
  const { client, type, target, plan } = request;
  const { scopes = {} } = settings;
  const sentences = Object.entries(scopes).filter(([scope]) => hasScope(plan.scope, scope));
  const shown = [
    client.client.id,
    client.client.name,
    type,
    plan.scope,
    plan.audience,
    shownLifetime(request, settings),
    target.redirectUri,
    sentences,
  ];
  return hash('sha256', JSON.stringify(shown), 'base64url');
}

/** Returns the seconds until the access ends that a request would grant, with all its refreshes. */
function shownLifetime({ client, type, plan }: AuthorizationRequest, settings: Box): number {
  if (type === 'id_token') return ID_TOKEN_LIFETIME;
  const refreshed = type === 'code' ? client.client.auth?.authorization_code : undefined;
  const renewed = refreshed?.refresh_token === true ? refreshLifetimes(refreshed, settings).absolute / 1000 : 0;
  return Math.max(plan.lifetime, renewed);
}
