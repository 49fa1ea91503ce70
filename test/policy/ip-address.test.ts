import { expect } from 'chai';
import fc from 'fast-check';
import { ipAddressText, parseCallerAddress, parseIpAddress } from '../../api/policy/ip-address.ts';

describe('an IP address', () => {
  const canonical: [text: string, canonical: string][] = [
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['192.0.2.10', '192.0.2.10'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8::ABCD', '2001:db8::abcd'],
    ['2001:db8::0:0:0:abcd', '2001:db8::abcd'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    // RFC 5952 §4.2.2: one group of zeros is not shortened; §4.2.3: the longest run is, of equal ones the first.
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['::1.2.3.4', '::102:304'],
    ['1:2:3:4:5:6:7.8.9.10', '1:2:3:4:5:6:708:90a'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
  ];
  for (const [text, expected] of canonical) {
    it(`${text} is written ${expected}`, () => {
      const address = parseIpAddress(text);
      expect(address && ipAddressText(address)).to.equal(expected);
    });
  }

  const wrong = [
    '',
    ' 192.0.2.1',
    '192.0.2.1 ',
    '192.0.2.1\n',
    '192.0.2',
    '192.0.2.1.0',
    '192.0.2.256',
    '192.0.2.01',
    '0xc0.0.2.1',
    '3221225985',
    '192.0.2.1/32',
    '192.0.2.1:80',
    '[::1]',
    ':::1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    'g::',
    '1::2::3',
    '::1.2.3',
    'fe80::1%eth0',
    'fe80::1%',
    '::ffff:192.0.2.1',
    '::FFFF:192.0.2.1',
    '::ffff:c000:201',
    '0:0:0:0:0:ffff:192.0.2.1',
    'localhost',
    '1'.repeat(1_000_000),
  ];
  for (const text of wrong) {
    it(`${JSON.stringify(text.slice(0, 40))} is none`, () => {
      expect(parseIpAddress(text)).to.equal(undefined);
    });
  }

  it('has the number of its bits as its value', () => {
    expect(parseIpAddress('192.0.2.1')).to.deep.equal({ family: 4, value: 0xc000_0201n });
    expect(parseIpAddress('2001:db8::1')).to.deep.equal({ family: 6, value: (0x2001_0db8n << 96n) + 1n });
  });

  it('is read from its canonical text as it was', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 128n - 1n), (value) => {
        fc.pre(value >> 32n !== 0xffffn);
        expect(parseIpAddress(ipAddressText({ family: 6, value }))).to.deep.equal({ family: 6, value });
      }),
    );
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        const address = parseIpAddress(text);
        expect(address && ipAddressText(address)).to.equal(text);
      }),
    );
  });

  for (const text of [
    '::ffff:192.0.2.1',
    '::FFFF:192.0.2.1',
    '::ffff:c000:201',
    '0:0:0:0:0:ffff:192.0.2.1',
    '192.0.2.1',
  ]) {
    it(`of a caller: ${text} is 192.0.2.1`, () => {
      expect(parseCallerAddress(text)).to.deep.equal({ family: 4, value: 0xc000_0201n });
    });
  }
});
