import { expect } from 'chai';
import { format, inspect } from 'node:util';
import { Secret } from '../../api/client/secret.ts';

describe('a secret in memory', () => {
  const secret = new Secret('canary-of-a-secret');

  it('is given by reveal alone', () => {
    expect(secret.reveal()).to.equal('canary-of-a-secret');
  });

  const printings: Record<string, () => string> = {
    String: () => String(secret),
    JSON: () => JSON.stringify({ secret }),
    inspect: () => inspect({ deep: { secret } }, { showHidden: true, depth: 9 }),
    format: () => format('%s %o %j', secret, secret, secret),
    'its keys': () => Object.entries(secret).join(),
    'an error': () => new Error('x', { cause: secret }).cause?.toString() ?? '',
  };
  for (const [how, print] of Object.entries(printings)) {
    it(`is not shown by ${how}`, () => {
      expect(print()).not.to.contain('canary');
    });
  }
});
