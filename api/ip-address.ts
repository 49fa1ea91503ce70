import { BlockList, isIP, SocketAddress } from 'node:net';

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

/** Returns a check for trusted peers, at these addresses or in these networks (`10.0.0.0/8`); with none, no peer is. */
export function trustedProxies(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => isIP(address) > 0 && list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/**
 * Returns the network that an address is counted under: for IPv6 its /64, the smallest network that anybody gets; any
 * other text itself.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [before = '', after] = address.toLowerCase().split('::', 2);
  const head = groupsOf(before);
  const tail = after === undefined ? [] : groupsOf(after);
  const left = Math.max(0, 8 - head.length - tail.length);
  const groups = [...head, ...Array.from({ length: left }, () => '0'), ...tail];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Splits a text into groups. An IPv4 address at the end stands for two groups, outside of the network's four. */
function groupsOf(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group.replace(/^0+(?=.)/, '')]));
}
