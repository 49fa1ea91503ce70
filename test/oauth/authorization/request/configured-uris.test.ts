import { expect } from 'chai';
import { configuredUri, onlyUri } from '../../../../api/oauth/authorization/authorization-response.ts';
import type { ConfiguredUris } from '../../../../api/oauth/authorization/authorization-response.ts';

const [a, b, c] = ['https://a.example/back', 'https://b.example/back', 'https://c.example/back'];
const [port3, port4, noPort] = ['http://127.0.0.1:3000/back', 'http://127.0.0.1:4000/back', 'http://127.0.0.1/back'];

const found: readonly [uris: ConfiguredUris, requested: string, configured: string | undefined][] = [
  [{ redirect_uri: a }, a, a],
  [{ redirect_uri: a }, b, undefined],
  [{ redirect_uris: [a, b] }, b, b],
  [{ redirect_uris: [a, b] }, c, undefined],
  [{ redirect_uri: a, redirect_uris: [b] }, a, a],
  [{ redirect_uri: a, redirect_uris: [b] }, b, b],
  [{ redirect_uri: a, redirect_uris: [b] }, `${b}/`, undefined],
  [{ redirect_uri: a, redirect_uris: [b] }, b.toUpperCase(), undefined],
  [{ redirect_uris: [a, port3] }, port4, port3],
  [{ redirect_uri: noPort, redirect_uris: [port3, port4] }, port4, port4],
  [{ redirect_uri: noPort, redirect_uris: [port3] }, port4, noPort],
  [{ redirect_uris: ['http://localhost:3000/back'] }, 'http://localhost:4000/back', undefined],
  [{ redirect_uris: ['https://a.example:1/'] }, 'https://a.example:2/', undefined],
  [{}, a, undefined],
];

const only: readonly [uris: ConfiguredUris, uri: string | undefined][] = [
  [{}, undefined],
  [{ redirect_uri: a }, a],
  [{ redirect_uris: [a] }, a],
  [{ redirect_uri: a, redirect_uris: [a] }, a],
  [{ redirect_uri: a, redirect_uris: [b] }, undefined],
  [{ redirect_uri: a, redirect_uris: [a, b] }, undefined],
  [{ redirect_uris: [a, b] }, undefined],
];

describe('configuredUri', () => {
  for (const [uris, requested, configured] of found) {
    it(`A-02 finds ${configured ?? 'nothing'} for ${requested} among ${JSON.stringify(uris)}`, () => {
      expect(configuredUri(requested, uris)).to.equal(configured);
    });
  }
});

describe('onlyUri', () => {
  for (const [uris, uri] of only) {
    it(`returns ${uri ?? 'nothing'} for ${JSON.stringify(uris)}`, () => {
      expect(onlyUri(uris)).to.equal(uri);
    });
  }
});
