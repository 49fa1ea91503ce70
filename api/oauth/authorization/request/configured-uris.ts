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

const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(:[1-9][0-9]{0,4})?((?:[/?].*)?)$/s;

/**
 * Checks whether a requested redirect URI is the configured one: the same string (RFC 9700 §4.1.3), or the same except
 * for the port if both are http on a loopback address (RFC 8252 §7.3).
 */
export function isRedirectUri(requested: string, configured: string): boolean {
  if (requested === configured) return true;
  const [, origin, port, rest] = loopback.exec(requested) ?? [];
  const [, itsOrigin, , itsRest] = loopback.exec(configured) ?? [];
  return (
    origin !== undefined &&
    origin === itsOrigin &&
    rest === itsRest &&
    /^[\x21-\x7e]*$/.test(rest ?? '') &&
    isPort(port)
  );
}

function isPort(port: string | undefined): boolean {
  return port === undefined || Number(port.slice(1)) <= 65_535;
}
