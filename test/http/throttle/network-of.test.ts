import { expect } from 'chai';
import { networkOf } from '../../../api/ip-address.ts';

const rows: Readonly<Record<string, string>> = {
  '': '',
  '1.2.3.4': '1.2.3.4',
  '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
  '2001:DB8:1:2::': '2001:db8:1:2::/64',
  '2001:0db8:0001:0002:0003::': '2001:db8:1:2::/64',
  '2001:db8::1': '2001:db8:0:0::/64',
  '2001:db8:0:0:1::': '2001:db8:0:0::/64',
  '::1': '0:0:0:0::/64',
  '::': '0:0:0:0::/64',
  '1::': '1:0:0:0::/64',
  '64:ff9b::1.2.3.4': '64:ff9b:0:0::/64',
  '1:2:3::4:5': '1:2:3:0::/64',
};

describe('the network of an address', () => {
  for (const [address, network] of Object.entries(rows)) {
    it(`${address || '(none)'}: ${network}`, () => {
      expect(networkOf(address)).to.equal(network);
    });
  }
});
