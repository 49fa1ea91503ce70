import { expect } from 'chai';
import { exampleClient } from '../../dev/hints.ts';

const own = 'http://127.0.0.1:3000/callback';
const other = 'https://app.example.com/callback';

const cases: readonly (readonly [title: string, uris: object, isFound: boolean])[] = [
  ['the address of the app', { redirect_uri: own }, true],
  ['that address on another port', { redirect_uri: 'http://127.0.0.1:5173/callback' }, true],
  ['that address in its list', { redirect_uris: [other, own] }, true],
  ['that address in its list, next to another one', { redirect_uri: other, redirect_uris: [own] }, true],
  ['another address', { redirect_uri: other }, false],
  ['a list without that address', { redirect_uris: [other] }, false],
  ['a list that is none', { redirect_uris: own }, false],
];

describe('the client that boxgate dev proposes for examples/app', () => {
  for (const [title, uris, isFound] of cases) {
    it(`${isFound ? 'is' : 'is not'} one with ${title}`, () => {
      const spec = { grant_types: ['authorization_code'], auth: { authorization_code: uris } };
      expect(exampleClient({ metadata: { name: 'app' }, spec })).to.equal(isFound ? 'app' : undefined);
    });
  }
});
