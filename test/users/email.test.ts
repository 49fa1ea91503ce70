import { expect } from 'chai';
import { emailKey } from '../../api/users/email.ts';

describe('the normal form of an email', () => {
  const same: Readonly<Record<string, readonly [string, string]>> = {
    'in another case': ['Ann@Example.COM', 'ann@example.com'],
    'with an accent written as two characters': ['jose\u0301@example.com', 'jos\u00e9@example.com'],
    'with letters of full width': ['\uff41nn@example.com', 'ann@example.com'],
    'of a domain with letters of its own': ['ann@B\u00fccher.example', 'ann@xn--bcher-kva.example'],
  };
  for (const [what, [one, two]] of Object.entries(same)) {
    it(`U-01 is one ${what}`, () => {
      expect(emailKey(one)).to.equal(emailKey(two));
      expect(emailKey(one)).to.be.a('string');
    });
  }

  const different: Readonly<Record<string, readonly [string, string]>> = {
    'a dot': ['a.nn@example.com', 'ann@example.com'],
    'a plus': ['ann+x@example.com', 'ann@example.com'],
    'a letter that only looks alike': ['\u0430nn@example.com', 'ann@example.com'],
    'another domain': ['ann@example.org', 'ann@example.com'],
  };
  for (const [what, [one, two]] of Object.entries(different)) {
    it(`U-01 tells two apart by ${what}`, () => {
      expect(emailKey(one)).not.to.equal(emailKey(two));
      expect([emailKey(one), emailKey(two)]).not.to.include(undefined);
    });
  }

  for (const text of [
    '',
    'ann',
    '@example.com',
    'ann@',
    'ann@@example.com',
    'ann@example.com ',
    ' ann@example.com',
    'an n@example.com',
    'ann@exa mple.com',
    'ann@example..com',
    '.ann@example.com',
    'ann.@example.com',
    'ann\n@example.com',
    'ann\u0000@example.com',
    'ann\u202e@example.com',
    'ann\u200b@example.com',
    '"ann"@example.com',
    'ann@-example.com',
    'ann@exam_ple.com',
    'ann@[127.0.0.1]',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.com`,
    `ann@${'b.'.repeat(130)}com`,
    // In ASCII it is too long to be an email again.
    `${'a'.repeat(64)}@${'\u00fc.'.repeat(30)}\u00fc`,
  ]) {
    it(`is none of ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(emailKey(text)).to.equal(undefined);
    });
  }

  for (const text of [
    'ann@exa\nmple.com',
    'ann@example.com\n',
    'ann@exam\tple.com',
    'ann@example.com\r\nBcc: eve@example.com',
    'ann@example.com/path',
    'ann@example.com?query',
    'ann@example.com#fragment',
    'ann@example.com\\x',
    'ann@exam%70le.com',
    'ann@example.com:25',
    'ann@user:x@example.com',
    'ann@2130706433',
    'ann@127.0.0.1',
    'ann@127.1',
    'ann@0x7f.1',
    'ann@0x7f000001',
    'ann@0177.0.0.1',
    'ann@example.123',
    'ann@\uff11\uff12\uff17.1',
    'ann@[::1]',
    'ann@example\u3002com',
    'ann@example\uff0fcom',
    'ann@exam\u00adple.com',
    'ann@exam\u200dple.com',
    'ann@example.com.',
    'ann@example-.com',
    'ann@xn--abc-.com',
    'ann@a\u2488com',
    'an\u0007n@example.com',
    'an\rn@example.com',
  ]) {
    it(`R-08 is none of ${JSON.stringify(text)}`, () => {
      expect(emailKey(text)).to.equal(undefined);
    });
  }

  it('R-08 is its own normal form', () => {
    for (const text of [
      'Ann@B\u00fccher.example',
      '\uff41nn@Example.COM',
      'jose\u0301+x@example.com',
      'ann@localhost',
    ]) {
      const normal = emailKey(text) ?? '';
      expect(normal).not.to.equal('');
      expect(emailKey(normal)).to.equal(normal);
    }
  });

  it('comes from a name without a dot in its domain too: people try things on their own machine', () => {
    expect(emailKey('ann@localhost')).to.equal('ann@localhost');
  });
});
