import type { Box, CustomScopes } from '../../../../crds/box.ts';
import { requestedClaims, scopesOf, withoutClaims } from '../../scope-text.ts';
import type { OAuthServices } from '../../services.ts';
import { validateAuthorizationRequest } from './authorization-request.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { Prompt } from './prompt.ts';
import { shownDigest, shownLifetime } from './shown-request.ts';

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
  const { plan, place, loginHint, prompt } = request;
  const { client } = request.client;
  return {
    client: { id: client.id, name: client.name },
    scopes: scopesOf(withoutClaims(plan.scope)),
    claims: [...new Set(requestedClaims(scopesOf(plan.scope)).map(({ name }) => name))],
    sentences: settings.scopes ?? {},
    audience: plan.audience?.[0] ?? place.issuer,
    redirectUri: place.redirectUri,
    lifetime: shownLifetime(request, settings),
    loginHint,
    prompt,
    shown: shownDigest(request, settings),
  };
}
