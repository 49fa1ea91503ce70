import { expect } from 'chai';
import {
  parseIpAddress,
  containsAddress,
  containsNetwork,
  ipNetworkText,
  masked,
  parseIpNetwork,
} from '../../api/policy/ip-address.ts';

describe('a network in CIDR notation', () => {
  const texts: [text: string, kept: string, masked: string][] = [
    ['10.0.0.0/8', '10.0.0.0/8', '10.0.0.0/8'],
    ['10.1.2.3/8', '10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3/32', '10.1.2.3/32', '10.1.2.3/32'],
    ['10.1.2.3/0', '10.1.2.3/0', '0.0.0.0/0'],
    ['192.168.1.129/25', '192.168.1.129/25', '192.168.1.128/25'],
    ['2001:DB8:1::/32', '2001:db8:1::/32', '2001:db8::/32'],
    ['::1/128', '::1/128', '::1/128'],
    ['2001:db8:ffff::/33', '2001:db8:ffff::/33', '2001:db8:8000::/33'],
  ];
  for (const [text, kept, expected] of texts) {
    it(`${text} is kept as ${kept}, and is ${expected} when it is masked`, () => {
      const network = parseIpNetwork(text);
      expect(network && ipNetworkText(network)).to.equal(kept);
      expect(network && ipNetworkText(masked(network))).to.equal(expected);
    });
  }

  const wrong = [
    '',
    '/',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0.0.0/-1',
    '10.0.0.0/8 ',
    '10.0.0.0/8\n',
    '10.0.0.0/255.0.0.0',
    '10.0.0/8',
    '10.0.0.0/8/8',
    '::1/129',
    '::1/1000',
    'fe80::1%eth0/64',
    '::ffff:10.0.0.0/104',
    '::ffff:10.0.0.0/8',
  ];
  for (const text of wrong) {
    it(`${JSON.stringify(text)} is none`, () => {
      expect(parseIpNetwork(text)).to.equal(undefined);
    });
  }

  const addresses: [network: string, address: string, contains: boolean][] = [
    ['10.0.0.0/8', '10.0.0.0', true],
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '9.255.255.255', false],
    ['10.1.2.3/8', '10.200.0.1', true],
    ['192.0.2.128/25', '192.0.2.127', false],
    ['192.0.2.128/25', '192.0.2.128', true],
    ['192.0.2.1/32', '192.0.2.1', true],
    ['192.0.2.1/32', '192.0.2.0', false],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['0.0.0.0/0', '::', false],
    ['::/0', '10.0.0.1', false],
    ['::/0', 'ffff::', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::', false],
    ['::a00:0/104', '10.0.0.1', false],
  ];
  for (const [network, address, expected] of addresses) {
    it(`${network} ${expected ? 'contains' : 'does not contain'} ${address}`, () => {
      const [parsed, other] = [parseIpNetwork(network), parseIpAddress(address)];
      expect(parsed && other && containsAddress(parsed, other)).to.equal(expected);
    });
  }

  const networks: [network: string, other: string, contains: boolean][] = [
    ['192.168.0.0/16', '192.168.10.0/24', true],
    ['192.168.0.0/16', '192.168.0.0/16', true],
    ['192.168.0.0/16', '192.168.0.0/15', false],
    ['192.168.1.0/24', '192.168.2.0/24', false],
    ['0.0.0.0/0', '::/0', false],
    ['2001:db8::/32', '2001:db8:1::/48', true],
  ];
  for (const [network, other, expected] of networks) {
    it(`${network} ${expected ? 'contains' : 'does not contain'} ${other}`, () => {
      const [parsed, inner] = [parseIpNetwork(network), parseIpNetwork(other)];
      expect(parsed && inner && containsNetwork(parsed, inner)).to.equal(expected);
    });
  }
});
