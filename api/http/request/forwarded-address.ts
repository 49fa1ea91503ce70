import { isIP, SocketAddress } from 'node:net';

/**
 * Reads one element of X-Forwarded-For: an address, also in quotes, in brackets or with a port (`203.0.113.5:51234`,
 * `[2001:db8::1]:443`). Returns the address alone in its usual form (RFC 5952), undefined for anything else.
 */
export function forwardedAddress(element: string): string | undefined {
  const [, quoted = element.trim()] = /^\s*"(.*)"\s*$/.exec(element) ?? [];
  const [, bracketed, version4] = WITH_PORT.exec(quoted) ?? [];
  const address = withoutZone(bracketed ?? version4 ?? quoted);
  const version = isIP(address);
  if (version === 0) return undefined;
  // Policies and throttles compare texts, and a proxy may pass on what it was told: `2001:DB8::01`, `::FFFF:a00:1`.
  return version === 4 ? address : plainAddress(new SocketAddress({ address, family: 'ipv6' }).address);
}

/** Brackets with or without a port, or a text with a single colon, which cannot be an IPv6 address. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([^:[\]]*):\d{1,5})$/;

/** Returns an address without the IPv6 prefix of an IPv4 address, and without a zone, which only this host knows. */
export function plainAddress(address: string | undefined): string {
  return withoutZone(address?.startsWith('::ffff:') === true ? address.slice(7) : (address ?? ''));
}

function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone < 0 ? address : address.slice(0, zone);
}
