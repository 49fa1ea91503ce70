import { BITS, ipAddressText, parseIpAddress } from './ip-address.ts';
import type { IpAddress } from './ip-address.ts';

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
