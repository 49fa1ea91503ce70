import { celFunc, celMethod, CelScalar, objectType } from '@bufbuild/cel';
import type { CelFunc } from '@bufbuild/cel';
import type { ReflectMessage } from '@bufbuild/protobuf/reflect';
import {
  ipAddressText,
  parseIpAddress,
  containsAddress,
  containsNetwork,
  ipNetworkText,
  masked,
  parseIpNetwork,
} from '../ip-address.ts';
import type { IpAddress, IpNetwork } from '../ip-address.ts';
import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';

/**
 * A type of CEL, such as `net.IP`. Each of its values is kept as its canonical text, so equal texts are equal values.
 * The library knows types of its own as messages only.
 */
class CelTextType {
  readonly type;
  readonly #message: DescMessage;

  constructor(pkg: string, name: string) {
    this.#message = describe(pkg, name);
    this.type = objectType(this.#message);
  }

  /** Returns the value with a text. */
  valueOf(text: string): ReflectMessage {
    const value = reflect(this.#message);
    for (const field of value.fields) value.set(field, text);
    return value;
  }

  /** Returns the text of a value. */
  textOf(value: ReflectMessage): string {
    return value.fields.map((field) => ownText(value.get(field))).join('');
  }
}

function ownText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Describes a message with one field of text. */
function describe(pkg: string, name: string): DescMessage {
  const { STRING: type } = FieldDescriptorProto_Type;
  const { OPTIONAL: label } = FieldDescriptorProto_Label;
  const messageType = [{ name, field: [{ name: 'text', number: 1, type, label }] }];
  const file = create(FileDescriptorProtoSchema, {
    name: `${name}.proto`,
    package: pkg,
    syntax: 'proto3',
    messageType,
  });
  const message = createFileRegistry(file, () => undefined).getMessage(`${pkg}.${name}`);
  if (message === undefined) throw new Error(`${pkg}.${name} is not described`);
  return message;
}

const { BOOL, INT, STRING } = CelScalar;
const IP = new CelTextType('net', 'IP');
const CIDR = new CelTextType('net', 'CIDR');

/** The networks of IPv6 multicast with the scope link-local, whatever the flags (RFC 4291 §2.7). */
const LINK_LOCAL_MULTICAST = Array.from({ length: 16 }, (_, flags) => `ff${flags.toString(16)}2::/16`);

/** The functions of Kubernetes' CEL libraries for IP addresses and CIDR, with the same names and results. */
export const addressFunctions: readonly CelFunc[] = [
  celFunc('ip', [STRING], IP.type, (text) => IP.valueOf(ipAddressText(address(text)))),
  celFunc('isIP', [STRING], BOOL, (text) => parseIpAddress(text) !== undefined),
  celFunc('ip.isCanonical', [STRING], BOOL, (text) => ipAddressText(address(text)) === text),
  celFunc('string', [IP.type], STRING, (ip) => IP.textOf(ip)),
  celMethod('family', IP.type, [], INT, function family() {
    return BigInt(addressOf(this).family);
  }),
  ...Object.entries({
    isUnspecified: ['0.0.0.0/32', '::/128'],
    isLoopback: ['127.0.0.0/8', '::1/128'],
    isLinkLocalMulticast: ['224.0.0.0/24', ...LINK_LOCAL_MULTICAST],
    isLinkLocalUnicast: ['169.254.0.0/16', 'fe80::/10'],
  }).map(([name, networks]) => isWithin(name, networks, true)),
  isWithin(
    'isGlobalUnicast',
    [
      ...['0.0.0.0/32', '255.255.255.255/32', '127.0.0.0/8', '224.0.0.0/4', '169.254.0.0/16'],
      ...['::/128', '::1/128', 'ff00::/8', 'fe80::/10'],
    ],
    false,
  ),
  celFunc('cidr', [STRING], CIDR.type, (text) => CIDR.valueOf(ipNetworkText(network(text)))),
  celFunc('isCIDR', [STRING], BOOL, (text) => parseIpNetwork(text) !== undefined),
  celFunc('string', [CIDR.type], STRING, (cidr) => CIDR.textOf(cidr)),
  celMethod('containsIP', CIDR.type, [STRING], BOOL, function containsIp(text) {
    return containsAddress(networkOf(this), address(text));
  }),
  celMethod('containsIP', CIDR.type, [IP.type], BOOL, function containsIp(ip) {
    return containsAddress(networkOf(this), addressOf(ip));
  }),
  celMethod('containsCIDR', CIDR.type, [STRING], BOOL, function containsCidr(text) {
    return containsNetwork(networkOf(this), network(text));
  }),
  celMethod('containsCIDR', CIDR.type, [CIDR.type], BOOL, function containsCidr(cidr) {
    return containsNetwork(networkOf(this), networkOf(cidr));
  }),
  celMethod('ip', CIDR.type, [], IP.type, function ip() {
    return IP.valueOf(ipAddressText(networkOf(this).address));
  }),
  celMethod('masked', CIDR.type, [], CIDR.type, function maskedCidr() {
    return CIDR.valueOf(ipNetworkText(masked(networkOf(this))));
  }),
  celMethod('prefixLength', CIDR.type, [], INT, function prefixLength() {
    return BigInt(networkOf(this).prefix);
  }),
];

/** Returns a method of addresses: whether one is within some of the networks, or within none. */
function isWithin(name: string, networks: readonly string[], expected: boolean): CelFunc {
  const parsed = networks.map(network);
  return celMethod(name, IP.type, [], BOOL, function isWithinNetworks() {
    const ip = addressOf(this);
    return parsed.some((one) => containsAddress(one, ip)) === expected;
  });
}

// Messages never repeat the text: it may be a parameter or a header of the request.
function address(text: string): IpAddress {
  const parsed = parseIpAddress(text);
  if (parsed === undefined) throw new Error('the text is not an IP address, or has a zone, or is IPv4-mapped');
  return parsed;
}

function network(text: string): IpNetwork {
  const parsed = parseIpNetwork(text);
  if (parsed === undefined) throw new Error('the text is not a network in CIDR notation, such as 10.0.0.0/8');
  return parsed;
}

function addressOf(ip: ReflectMessage): IpAddress {
  return address(IP.textOf(ip));
}

function networkOf(cidr: ReflectMessage): IpNetwork {
  return network(CIDR.textOf(cidr));
}
