import { usualAddress } from '../../ip-address.ts';

/**
 * Reads one element of X-Forwarded-For: an address, also in quotes, in brackets or with a port (`203.0.113.5:51234`,
 * `[2001:db8::1]:443`). Returns the address alone in its usual form (RFC 5952), undefined for anything else.
 */
export function forwardedAddress(element: string): string | undefined {
  const [, quoted = element.trim()] = /^\s*"(.*)"\s*$/.exec(element) ?? [];
  const [, bracketed, version4] = WITH_PORT.exec(quoted) ?? [];
  // Policies and throttles compare texts, and a proxy may pass on what it was told: `2001:DB8::01`, `::FFFF:a00:1`.
  return usualAddress(bracketed ?? version4 ?? quoted);
}

/** Brackets with or without a port, or a text with a single colon, which cannot be an IPv6 address. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([^:[\]]*):\d{1,5})$/;
