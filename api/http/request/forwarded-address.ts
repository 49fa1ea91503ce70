import { isIP } from 'node:net';

/**
 * Reads one element of X-Forwarded-For: an address, also in quotes, in brackets or with a port (`203.0.113.5:51234`,
 * `[2001:db8::1]:443`). Returns the address alone, undefined for anything else.
 */
export function forwardedAddress(element: string): string | undefined {
  const [, quoted = element.trim()] = /^\s*"(.*)"\s*$/.exec(element) ?? [];
  const [, bracketed, version4] = WITH_PORT.exec(quoted) ?? [];
  const address = plainAddress(bracketed ?? version4 ?? quoted);
  return isIP(address) > 0 ? address : undefined;
}

/** Brackets with or without a port, or a text with a single colon, which cannot be an IPv6 address. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([^:[\]]*):\d{1,5})$/;

/** Returns an address without the IPv6 prefix of an IPv4 address, and without a zone, which only this host knows. */
export function plainAddress(address: string | undefined): string {
  const plain = address?.startsWith('::ffff:') === true ? address.slice(7) : (address ?? '');
  const zone = plain.indexOf('%');
  return zone < 0 ? plain : plain.slice(0, zone);
}
