import { isRedirectUri } from './redirect-uri.ts';

/** The redirect URIs that the settings of a grant have: one, a list, or both. */
export interface ConfiguredUris {
  readonly redirect_uri?: string;
  readonly redirect_uris?: readonly string[];
}

/**
 * Returns the configured redirect URI that a requested one is ({@link isRedirectUri}); undefined if there is none. The
 * same string wins over one that differs in the port, so that a consent is found again for the URI that it was given
 * for.
 */
export function configuredUri(requested: string, { redirect_uri, redirect_uris }: ConfiguredUris): string | undefined {
  if (requested === redirect_uri || redirect_uris?.includes(requested) === true) return requested;
  if (redirect_uri !== undefined && isRedirectUri(requested, redirect_uri)) return redirect_uri;
  return redirect_uris?.find((configured) => isRedirectUri(requested, configured));
}

/** Returns the redirect URI of settings that have exactly one: a request may leave it out (RFC 6749 §3.1.2.3). */
export function onlyUri({ redirect_uri, redirect_uris = [] }: ConfiguredUris): string | undefined {
  const only = redirect_uri ?? redirect_uris[0];
  return redirect_uris.every((one) => one === only) ? only : undefined;
}
