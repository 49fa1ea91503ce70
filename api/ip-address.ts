import { isIP, SocketAddress } from 'node:net';

/**
 * Returns an IP address in its usual form (RFC 5952), without the IPv6 prefix of an IPv4 address and without a zone;
 * undefined for any other text.
 */
export function usualAddress(text: string): string | undefined {
  const address = withoutZone(text);
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? address : plainAddress(new SocketAddress({ address, family: 'ipv6' }).address);
}

/** Returns an address without the IPv6 prefix of an IPv4 address, and without a zone, which only this host knows. */
export function plainAddress(address: string | undefined): string {
  return withoutZone(address?.startsWith('::ffff:') === true ? address.slice(7) : (address ?? ''));
}

function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone < 0 ? address : address.slice(0, zone);
}
