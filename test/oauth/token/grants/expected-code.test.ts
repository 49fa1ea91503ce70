import { expect } from 'chai';
import type { PresentedCode } from '../../../../api/oauth/authorization/validate-code.ts';
import { challengeOf } from '../../../../api/oauth/authorization/validate-code.ts';
import { expectedCode } from '../../../../api/oauth/token/grants/expected-code.ts';
import type { ClientState } from '../../../../api/state/box-state.ts';
import type { KeyRing } from '../../../../api/state/key-ring.ts';
import { requestableScopes } from '../../../../api/state/requestable-scopes.ts';
import type { Client } from '../../../../crds/client.ts';

const now = Date.UTC(2026, 0, 1);
const back = 'https://app.example/back';
const verifier = 'v'.repeat(43);
const noKeys: KeyRing = { all: [], find: () => undefined, signing: () => undefined };

function clientState(fields: Partial<Client> = {}, over: Partial<ClientState> = {}): ClientState {
  const client: Client = {
    ...{ resourceType: 'Client', id: 'app', grant_types: ['authorization_code'] },
    ...{ auth: { authorization_code: { redirect_uri: back } }, ...fields },
  };
  const common = { changedIn: 1, secrets: ['stored'], previous: undefined, sessionsFrom: 0, revokedBefore: undefined };
  return { client, scopes: requestableScopes(client, true), ...common, ...over };
}

function presented(over: Partial<PresentedCode> = {}): PresentedCode {
  const code = { id: 'id', hash: 'hash', grantsNothing: false, tellsClaims: false };
  return { code, client: clientState(), redirectUri: back, verifier, namesTarget: false, ...over };
}

function expected(over: Partial<PresentedCode> = {}, revokedBefore?: number) {
  return expectedCode(presented(over), { keys: noKeys, revokedBefore }, now);
}

const usual = { client: 'app', redirectUri: back, challenge: challengeOf(verifier), since: 0, mayHaveIdToken: false };

describe('the row of a code that is used before it is validated', () => {
  const told: readonly (readonly [what: string, over: Partial<PresentedCode>, row: Partial<typeof usual> | object])[] =
    [
      ['the redirect URI and the challenge of the request', {}, {}],
      ['no redirect URI if the request names none', { redirectUri: undefined }, { redirectUri: null }],
      ['no challenge if the request has no verifier', { verifier: undefined }, { challenge: null }],
      ['the time of a revocation of its client', { client: clientState({}, { revokedBefore: 7 }) }, { since: 7 }],
    ];
  for (const [what, over, row] of told) {
    it(`has ${what}`, () => {
      expect(expected(over)).to.deep.equal({ ...usual, ...row });
    });
  }

  it('has the time of the later revocation, of its client or its box', () => {
    const client = clientState({}, { revokedBefore: 7 });
    expect([expected({ client }, 8)?.since, expected({ client }, 6)?.since]).to.deep.equal([8, 7]);
  });

  const unknown: readonly (readonly [what: string, over: Partial<PresentedCode>])[] = [
    ['names a target', { namesTarget: true }],
    ['names a redirect URI that its client does not have', { redirectUri: `${back}/else` }],
    ['is of a client that has no redirect URI any more', { client: clientState({ auth: {} }) }],
    [
      'has no verifier and is of a client without a secret',
      { verifier: undefined, client: clientState({}, { secrets: [] }) },
    ],
    [
      'has no verifier and is of a client that needs PKCE',
      {
        verifier: undefined,
        client: clientState({ auth: { authorization_code: { redirect_uri: back, pkce: true } } }),
      },
    ],
  ];
  for (const [what, over] of unknown) {
    it(`is unknown if the request ${what}`, () => {
      expect(expected(over)).to.equal(undefined);
    });
  }
});
