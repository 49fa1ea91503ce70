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
  ]) {
    it(`is none of ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(emailKey(text)).to.equal(undefined);
    });
  }

  it('comes from a name without a dot in its domain too: people try things on their own machine', () => {
    expect(emailKey('ann@localhost')).to.equal('ann@localhost');
  });
});
