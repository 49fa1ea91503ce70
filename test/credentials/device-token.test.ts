import { expect } from 'chai';
import { createDeviceTokens } from '../../api/credentials/device-token.ts';

const [old, young] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const password = { hash: '$argon2id$one', pepper: 'p' };
const account = { box: 'shop', user: 1, password };

describe('a device token', () => {
  const day = 24 * 3_600_000;
  let now = Date.UTC(2026, 10, 28);
  const devices = createDeviceTokens([old], () => now);
  const text = devices.add('', account);

  it('proves an account, each time with the same ID', () => {
    expect(devices.find(text, account)).to.match(/^[\w-]{22}$/);
    expect(devices.find(text, account)).to.equal(devices.find(text, account));
  });

  const others: Readonly<Record<string, typeof account>> = {
    'another user': { ...account, user: 2 },
    'a user of another box': { ...account, box: 'shop2' },
    'a user who has set another password': { ...account, password: { ...password, hash: '$argon2id$two' } },
  };
  for (const [who, other] of Object.entries(others)) {
    it(`proves nothing for ${who}`, () => {
      expect(devices.find(text, other)).to.equal(undefined);
    });
  }

  const forgeries: Readonly<Record<string, string>> = {
    empty: '',
    'a dot': '.',
    'too short': text.slice(1),
    'too long': `${text}x`,
    'of another ID': `${'A'.repeat(22)}${text.slice(22)}`,
    'behind one that is too short': `${text.slice(1)}.${text.slice(2)}`,
    'no text of ours': '\u{1f511}',
  };
  for (const [what, forged] of Object.entries(forgeries)) {
    it(`proves nothing when it is ${what}`, () => {
      expect(devices.find(forged, account)).to.equal(undefined);
    });
  }

  it('has a new ID after each sign-in, and one proof of an account', () => {
    const again = devices.add(text, account);
    expect(again).to.have.length(text.length);
    expect(devices.find(again, account)).not.to.equal(devices.find(text, account));
  });

  it('remembers five accounts, the last ones', () => {
    const users = [2, 3, 4, 5, 6].map((user) => ({ ...account, user }));
    const all = users.reduce((sum, user) => devices.add(sum, user), text);
    expect(users.every((user) => devices.find(all, user) !== undefined)).to.equal(true);
    expect(devices.find(all, account)).to.equal(undefined);
  });

  it('proves an account for 30 days', () => {
    // E-07: a browser that signed in lately.
    const since = now;
    now = since + 30 * day - 1;
    expect(devices.find(text, account)).to.match(/^[\w-]{22}$/);
    now = since + 30 * day;
    expect(devices.find(text, account)).to.equal(undefined);
    now = since;
  });

  it('stays valid while the key of the installation is rotated, and ends with it', () => {
    expect(createDeviceTokens([young, old], () => now).find(text, account)).not.to.equal(undefined);
    expect(createDeviceTokens([young], () => now).find(text, account)).to.equal(undefined);
  });
});
