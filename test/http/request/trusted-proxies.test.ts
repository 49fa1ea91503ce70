import { expect } from 'chai';
import { trustedProxies } from '../../../api/ip-address.ts';

describe('trusted proxies', () => {
  const isTrusted = trustedProxies(['192.0.2.1', '10.0.0.0/8', '2001:db8::1', 'fd00::/8']);
  const rows: Readonly<Record<string, boolean>> = {
    '192.0.2.1': true,
    '192.0.2.2': false,
    '10.255.0.1': true,
    '11.0.0.1': false,
    '2001:db8::1': true,
    '2001:db8:0:0:0:0:0:1': true,
    '2001:db8::2': false,
    'fdff::1': true,
    'fe00::1': false,
    '': false,
    localhost: false,
    '10.0.0.0/8': false,
  };
  for (const [address, is] of Object.entries(rows)) {
    it(`${address || '(none)'}: ${is ? 'trusted' : 'not trusted'}`, () => {
      expect(isTrusted(address)).to.equal(is);
    });
  }

  it('are none where none is named, not even this machine', () => {
    for (const address of ['127.0.0.1', '::1', '10.0.0.1']) expect(trustedProxies([])(address)).to.equal(false);
  });

  it('are all where all are named', () => {
    for (const address of ['127.0.0.1', '8.8.8.8']) expect(trustedProxies(['0.0.0.0/0'])(address)).to.equal(true);
  });
});
