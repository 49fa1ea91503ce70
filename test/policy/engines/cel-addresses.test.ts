import { expect } from 'chai';
import { STEPS_PER_DECISION } from '../../../api/policy/steps.ts';
import { compiled, countedSteps, sampleRequest } from '../policies.ts';

/** The result of an expression, or the reason why it has none. */
function result(expression: string, body?: unknown) {
  const policy = compiled({ engine: 'cel', expression });
  expect(policy.fault).to.equal(undefined);
  const { granted, fault } = policy.evaluate(sampleRequest({ body }), countedSteps());
  return fault ?? granted;
}

describe('addresses in CEL, as in Kubernetes', () => {
  const yes = [
    // Each row of the tests of Kubernetes' two libraries.
    'ip("192.168.0.1").family() == 4',
    'ip("2001:db8::68").family() == 6',
    'isIP("192.168.0.1")',
    '!isIP("192.168.0.1.0")',
    'isIP("2001:db8::68")',
    '!isIP("2001:db8:::68")',
    'ip.isCanonical("127.0.0.1")',
    'ip.isCanonical("2001:db8::68")',
    '!ip.isCanonical("2001:DB8::68")',
    '!ip.isCanonical("2001:db8::0:0:0:abcd")',
    'ip("0.0.0.0").isUnspecified()',
    '!ip("127.0.0.1").isUnspecified()',
    'ip("::").isUnspecified()',
    '!ip("::1").isUnspecified()',
    'ip("127.0.0.1").isLoopback()',
    '!ip("1.2.3.4").isLoopback()',
    'ip("::1").isLoopback()',
    '!ip("2001:db8::abcd").isLoopback()',
    'ip("224.0.0.1").isLinkLocalMulticast()',
    '!ip("224.0.1.1").isLinkLocalMulticast()',
    'ip("ff02::1").isLinkLocalMulticast()',
    'ip("fff2::1").isLinkLocalMulticast()',
    '!ip("fd00::1").isLinkLocalMulticast()',
    '!ip("ff05::1").isLinkLocalMulticast()',
    'ip("169.254.169.254").isLinkLocalUnicast()',
    '!ip("192.168.0.1").isLinkLocalUnicast()',
    'ip("fe80::1").isLinkLocalUnicast()',
    'ip("febf::1").isLinkLocalUnicast()',
    '!ip("fd80::1").isLinkLocalUnicast()',
    'ip("192.168.0.1").isGlobalUnicast()',
    '!ip("255.255.255.255").isGlobalUnicast()',
    '!ip("0.0.0.0").isGlobalUnicast()',
    '!ip("127.0.0.1").isGlobalUnicast()',
    '!ip("224.0.0.1").isGlobalUnicast()',
    'ip("2001:db8::abcd").isGlobalUnicast()',
    '!ip("ff00::1").isGlobalUnicast()',
    '!ip("::").isGlobalUnicast()',
    'string(ip("192.168.0.1")) == "192.168.0.1"',
    'string(ip("2001:DB8::68")) == "2001:db8::68"',
    'ip("2001:DB8::68") == ip("2001:db8:0::68")',
    'ip("2001:db8::68") != ip("2001:db8::69")',
    'ip("10.0.0.1") in [ip("10.0.0.2"), ip("10.0.0.1")]',
    'type(ip("192.168.0.1")) == type(ip("::1"))',
    'type(ip("192.168.0.1")) != type(cidr("192.168.0.0/24"))',
    'cidr("192.168.0.0/24").containsIP(ip("192.168.0.1"))',
    '!cidr("192.168.0.0/24").containsIP(ip("192.168.1.1"))',
    'cidr("192.168.0.0/24").containsIP("192.168.0.1")',
    '!cidr("192.168.0.0/24").containsIP("192.168.1.1")',
    '!cidr("::/0").containsIP("192.168.1.1")',
    'cidr("192.168.0.0/24").containsCIDR(cidr("192.168.0.0/25"))',
    '!cidr("192.168.0.0/24").containsCIDR(cidr("192.168.0.0/23"))',
    'cidr("192.168.0.0/16").containsCIDR("192.168.10.0/24")',
    '!cidr("192.168.0.0/24").containsCIDR("192.168.0.0/23")',
    'cidr("192.168.0.1/24").ip() == ip("192.168.0.1")',
    'cidr("::1/128").ip().family() == 6',
    'cidr("192.168.0.1/24").masked() == cidr("192.168.0.0/24")',
    'cidr("192.168.0.1/24") != cidr("192.168.0.1/24").masked()',
    'cidr("192.168.0.0/24").prefixLength() == 24',
    'cidr("2001:db8::/32").prefixLength() == 32',
    'cidr("2001:db8:1::/32").masked() == cidr("2001:db8::/32")',
    'string(cidr("192.168.0.0/24")) == "192.168.0.0/24"',
    'isCIDR("192.168.0.0/16") && isCIDR("::1/128") && !isCIDR("192.168.0.0/33") && !isCIDR("::1/129")',
    // IPv4-mapped addresses and zones are refused.
    '!isIP("::ffff:1.2.3.4") && !isIP("::ffff:102:304") && !isCIDR("::ffff:1.2.3.4/24")',
    '!isIP("fe80::1%eth0") && !isCIDR("fe80::1%eth0/64") && !isIP("127.0.0.01")',
    // The request.
    'cidr("192.0.2.0/24").containsIP(remote_addr)',
    'ip(remote_addr).family() == 4',
    'body.nets.exists(net, isCIDR(net) && cidr(net).containsIP(remote_addr))',
    'body.nets.exists(ip, ip.startsWith("192."))',
    'ip(body.address).isLoopback()',
  ];
  const body = { nets: ['no', '10.0.0.0/8', '192.0.2.0/24'], address: '::1', number: 5, mapped: '::ffff:10.0.0.1' };
  for (const expression of yes) {
    it(`${expression} is true`, () => {
      expect(result(expression, body)).to.equal(true);
    });
  }

  const failing: [expression: string, reason: RegExp][] = [
    ['ip("192.168.0.1.0").family() == 4', /the text is not an IP address, or has a zone, or is IPv4-mapped/],
    ['ip("fe80::1%eth0").isLoopback()', /not an IP address/],
    ['ip("::ffff:1.2.3.4").family() == 6', /not an IP address/],
    ['ip.isCanonical("127.0.0.1.0")', /not an IP address/],
    ['cidr("10.0.0.0/8").containsIP(body.mapped)', /not an IP address/],
    ['cidr("10.0.0.0/8").containsIP("10.0.0.0/8")', /not an IP address/],
    ['cidr("192.168.0.0/").prefixLength() == 0', /the text is not a network in CIDR notation, such as 10\.0\.0\.0\/8/],
    ['cidr("192.168.0.0").prefixLength() == 32', /not a network/],
    ['cidr("::ffff:10.0.0.0/104").containsIP("10.0.0.1")', /not a network/],
    ['cidr("10.0.0.0/8").containsCIDR("10.0.0.1")', /not a network/],
    ['ip(body.number).family() == 4', /./],
    ['ip(body.nope).family() == 4', /./],
  ];
  for (const [expression, reason] of failing) {
    it(`${expression} fails, and so does not grant`, () => {
      expect(result(expression, body)).to.match(reason);
    });
  }

  const faults: [expression: string, fault: RegExp][] = [
    ['cidr(192168) == 1', /uses cidr, which does not take \(int\)$/],
    ['isIP(cidr("192.168.0.0/24"))', /uses isIP, which does not take \(net\.CIDR\)$/],
    ['ip("192.0.2.1")', /must be a boolean expression; this one is of type net\.IP$/],
    ['cidr("192.0.2.0/24")', /this one is of type net\.CIDR$/],
    ['ip("192.0.2.1") == "192.0.2.1"', /compares types net\.IP and string, which are never equal$/],
    ['ip("192.0.2.1").prefixLength() == 1', /uses prefixLength, which does not take \(\) of type net\.IP$/],
    ['ip("192.0.2.1").text == ""', /reads the field "text" of type net\.IP, which has none$/],
    ['ip("192.0.2.1").isCanonical()', /calls the unknown function "isCanonical"$/],
    ['ip.isCanonical(5)', /uses ip\.isCanonical, which does not take \(int\)$/],
    ['ip.isNope("x")', /has the unknown variable "ip"/],
  ];
  for (const [expression, fault] of faults) {
    it(`${expression} is refused when the policy is applied`, () => {
      expect(compiled({ engine: 'cel', expression }).fault).to.match(fault);
    });
  }

  it('takes steps in proportion to the addresses that it reads', () => {
    const nets = Array(9000).fill('10.0.0.0/8');
    expect(result('body.nets.exists(net, cidr(net).containsIP(remote_addr))', { nets })).to.contain(
      `${STEPS_PER_DECISION} steps`,
    );
    expect(result('body.nets.exists(net, cidr(net).containsIP(remote_addr))', { nets: nets.slice(0, 1000) })).to.equal(
      false,
    );
  });

  it('never repeats a text of the request in its reason', () => {
    expect(result('ip(body.address).isLoopback()', { address: 'a-secret' })).to.not.contain('a-secret');
  });
});
