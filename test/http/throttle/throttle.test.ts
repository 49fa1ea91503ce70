import { expect } from 'chai';
import { createThrottle, defaultThrottle } from '../../../api/http/throttle/throttle.ts';
import type { FailureCount } from '../../../api/http/throttle/throttle.ts';

const limits = { perClient: 3, perBox: 7, window: 60_000 };

describe('the throttle', () => {
  let clock = 0;
  let throttle: FailureCount;

  beforeEach(() => {
    clock = 1_000_000;
    throttle = createThrottle(limits, () => clock).secrets;
  });

  function fail(times: number, client = 'a', address = '1.1.1.1', box = 'shop'): void {
    for (let time = 0; time < times; time += 1) throttle.failed(box, client, address);
  }

  it('X-16 holds a client back at an address after as many failures as are allowed, and not before', () => {
    fail(limits.perClient - 1);
    expect(throttle.allows('shop', 'a', '1.1.1.1')).to.equal(true);
    fail(1);
    expect(throttle.allows('shop', 'a', '1.1.1.1')).to.equal(false);
  });

  it('X-16 holds an address back in a box after failures of many clients', () => {
    for (let client = 0; client < limits.perBox - 1; client += 1) fail(1, `client-${String(client)}`);
    expect(throttle.allows('shop', 'another', '1.1.1.1')).to.equal(true);
    fail(1, 'one-more');
    expect(throttle.allows('shop', 'another', '1.1.1.1')).to.equal(false);
  });

  const unaffected: Readonly<Record<string, readonly [box: string, client: string, address: string]>> = {
    'the same client at another address': ['shop', 'a', '2.2.2.2'],
    'another client at the same address, below its limit': ['shop', 'b', '1.1.1.1'],
    'the same client and address in another box': ['other', 'a', '1.1.1.1'],
    'a client whose name begins with that one': ['shop', 'aa', '1.1.1.1'],
  };
  for (const [who, [box, client, address]] of Object.entries(unaffected)) {
    it(`X-16 leaves alone ${who}`, () => {
      fail(limits.perClient);
      expect(throttle.allows(box, client, address)).to.equal(true);
    });
  }

  it('X-16 counts no client for one of another box or address, whatever it is called', () => {
    fail(limits.perBox, '1.1.1.1 a', 'x', 'shop');
    fail(limits.perBox, ' 1.1.1.1', '', 'shop');
    fail(limits.perBox, 'a', '1.1.1.1', 'other');
    expect(throttle.allows('shop', 'a', '1.1.1.1')).to.equal(true);
    expect(throttle.hasFailures('shop', '1.1.1.1')).to.equal(false);
  });

  it('X-16 takes a long name for the same client each time, and no other client for it', () => {
    const long = 'x'.repeat(5_000);
    fail(limits.perClient, long);
    expect(throttle.allows('shop', long, '1.1.1.1')).to.equal(false);
    expect(throttle.allows('shop', 'x'.repeat(128), '1.1.1.1')).to.equal(true);
  });

  it('X-16 lets everybody try again after the window: nobody is locked out for good', () => {
    fail(100);
    expect(throttle.retryAfter).to.equal(60);
    clock += limits.window - 1;
    expect(throttle.retryAfter).to.equal(1);
    expect(throttle.allows('shop', 'a', '1.1.1.1')).to.equal(false);
    clock += 1;
    expect(throttle.allows('shop', 'a', '1.1.1.1')).to.equal(true);
    expect(throttle.hasFailures('shop', '1.1.1.1')).to.equal(false);
  });

  it('X-16 takes the addresses of one IPv6 network for one', () => {
    fail(limits.perClient, 'a', '2001:db8:1:2:3:4:5:6');
    expect(throttle.allows('shop', 'a', '2001:db8:1:2::9')).to.equal(false);
    expect(throttle.allows('shop', 'a', '2001:db8:1:3::9')).to.equal(true);
  });

  it('X-16 lets many at once begin no more than one after the other may fail', () => {
    const begun = () =>
      Array.from({ length: 50 }, () => throttle.begin('shop', 'a', '1.1.1.1')).filter((before) => before !== undefined)
        .length;
    expect(begun()).to.equal(limits.perClient);
    for (let nth = 0; nth < limits.perClient; nth += 1) {
      throttle.failed('shop', 'a', '1.1.1.1');
      throttle.end('shop', 'a', '1.1.1.1');
    }
    expect(begun(), 'what failed').to.equal(0);
    clock += limits.window;
    expect(begun(), 'a window later').to.equal(limits.perClient);
    clock += limits.window;
    expect(begun(), 'what is still under way').to.equal(0);
    for (let nth = 0; nth < limits.perClient; nth += 1) throttle.end('shop', 'a', '1.1.1.1');
    expect(begun(), 'what succeeded').to.equal(limits.perClient);
  });

  it('X-16 counts what is under way of all clients of a box at an address together', () => {
    const begun = Array.from({ length: 20 }, (_, nth) => throttle.begin('shop', `client-${String(nth)}`, '1.1.1.1'));
    expect(begun.filter((before) => before !== undefined)).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
    expect(throttle.begin('shop', 'a', '2.2.2.2'), 'another address').to.equal(0);
    expect(throttle.begin('other', 'a', '1.1.1.1'), 'another box').to.equal(0);
  });

  it('X-16 holds nobody back for what is only under way: it may well succeed', () => {
    for (let nth = 0; nth < limits.perClient; nth += 1) throttle.begin('shop', 'a', '1.1.1.1');
    expect(throttle.allows('shop', 'a', '1.1.1.1')).to.equal(true);
    expect(throttle.hasFailures('shop', '1.1.1.1')).to.equal(false);
  });

  it('X-16 counts secrets and refresh tokens apart', () => {
    const both = createThrottle(limits, () => clock);
    for (let nth = 0; nth < limits.perBox; nth += 1) both.refreshTokens.failed('shop', 'a', '1.1.1.1');
    expect(both.refreshTokens.allows('shop', 'a', '1.1.1.1')).to.equal(false);
    expect(both.secrets.allows('shop', 'a', '1.1.1.1')).to.equal(true);
  });

  it('stays within bounds, and works on, when addresses without number fail', () => {
    for (let nth = 0; nth < 120_000; nth += 1) throttle.failed('shop', 'a', `10.${String(nth)}`);
    fail(limits.perClient);
    expect(throttle.allows('shop', 'a', '1.1.1.1')).to.equal(false);
  });

  it('X-16 forgets only the oldest failures when addresses without number fail', () => {
    for (let nth = 0; nth < 49_000; nth += 1) throttle.failed('shop', 'a', `10.${String(nth)}`);
    fail(limits.perClient);
    fail(1, 'b', '2.2.2.2');
    for (let nth = 0; nth < 40_000; nth += 1) throttle.failed('shop', 'a', `11.${String(nth)}`);
    expect(throttle.allows('shop', 'a', '1.1.1.1')).to.equal(false);
    fail(limits.perClient - 1, 'b', '2.2.2.2');
    for (let nth = 0; nth < 40_000; nth += 1) throttle.failed('shop', 'a', `12.${String(nth)}`);
    expect(throttle.allows('shop', 'b', '2.2.2.2'), 'one that still fails').to.equal(false);
    expect(throttle.hasFailures('shop', '10.0'), 'the oldest').to.equal(false);
  });

  it('ships with the numbers that the documentation names', () => {
    expect(defaultThrottle).to.deep.equal({ perClient: 20, perBox: 100, window: 60_000 });
  });
});
