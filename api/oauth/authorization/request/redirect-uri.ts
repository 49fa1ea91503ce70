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
