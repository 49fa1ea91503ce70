import { isIP } from 'node:net';

/** An IP address as a number of 32 or 128 bits. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** Number of bits of an address of each family. */
const BITS = { 4: 32, 6: 128 } as const;

/**
 * Reads an address as Kubernetes does in CEL: undefined for one with a zone, for an IPv4-mapped one (RFC 4291 §2.5.5.2)
 * and for an octet with a leading zero.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  const address = parseAnyAddress(text);
  return address === undefined || isMapped(address) ? undefined : address;
}

/** Reads the address of a caller: an IPv4-mapped one is the IPv4 address in it. */
export function parseCallerAddress(text: string): IpAddress | undefined {
  const address = parseAnyAddress(text);
  if (address === undefined || !isMapped(address)) return address;
  return { family: 4, value: address.value & 0xffff_ffffn };
}

/** Returns the canonical text of an address (RFC 5952 §4). */
export function ipAddressText({ family, value }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((bits) => (value >> bits) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Longest text of an address: eight groups, the last two as IPv4. */
const LONGEST_TEXT = 45;

function parseAnyAddress(text: string): IpAddress | undefined {
  if (text.length > LONGEST_TEXT || text.includes('%')) return undefined;
  const family = isIP(text);
  if (family === 4) return { family, value: version4(text) };
  return family === 6 ? { family, value: version6(text) } : undefined;
}

function isMapped({ family, value }: IpAddress): boolean {
  return family === 6 && value >> 32n === 0xffffn;
}

function version4(text: string): bigint {
  return BigInt(text.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0));
}

function version6(text: string): bigint {
  const [head = '', tail] = withoutDots(text).split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return BigInt(`0x${[...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('')}`);
}

/** Writes an IPv4 address at the end as two groups: `64:ff9b::192.0.2.1` (RFC 4291 §2.2). */
function withoutDots(text: string): string {
  if (!text.includes('.')) return text;
  const at = text.lastIndexOf(':') + 1;
  const value = version4(text.slice(at));
  return `${text.slice(0, at)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

/** A range of addresses in CIDR notation (RFC 4632 §3.1): an address with the length of its prefix. */
export interface IpNetwork {
  readonly address: IpAddress;
  readonly prefix: number;
}

/** Reads a text such as `10.0.0.0/8`; the bits after the prefix are free. Undefined for anything else. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const [, before = '', digits = ''] = /^(.*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = parseIpAddress(before);
  const prefix = Number(digits);
  return address === undefined || prefix > BITS[address.family] ? undefined : { address, prefix };
}

/** Returns the text of a network, with the bits after its prefix as they are. */
export function ipNetworkText({ address, prefix }: IpNetwork): string {
  return `${ipAddressText(address)}/${prefix}`;
}

/** Returns the same network, with the bits after its prefix set to zero. */
export function masked({ address, prefix }: IpNetwork): IpNetwork {
  const free = BigInt(BITS[address.family] - prefix);
  return { address: { ...address, value: (address.value >> free) << free }, prefix };
}

/** Checks whether an address is within a network. Families do not mix: `::/0` contains no IPv4 address. */
export function containsAddress({ address, prefix }: IpNetwork, other: IpAddress): boolean {
  const free = BigInt(BITS[address.family] - prefix);
  return address.family === other.family && address.value >> free === other.value >> free;
}

/** Checks whether all addresses of a network are within another one. */
export function containsNetwork(network: IpNetwork, other: IpNetwork): boolean {
  return network.prefix <= other.prefix && containsAddress(network, other.address);
}
