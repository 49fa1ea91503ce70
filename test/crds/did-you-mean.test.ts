import { expect } from 'chai';
import { faultSentence } from '../../crds/fault.ts';
import type { Kind } from '../../crds/kind.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { checkResource } from '../../crds/validate.ts';
import { manifest, type Spec } from './objects/row.ts';

const callback = 'https://app.example.com/callback';
const code = { grant_types: ['authorization_code'] };

/** Fields and values of a spec as people write them, and the one fault of each below `spec`. */
const misspelled: readonly (readonly [kind: Kind, spec: Spec, sentence: string])[] = [
  ['Client', { active: true, secert: 's3cret' }, 'secert is not a known field. Did you mean `secret`?'],
  ['Client', { scopes: ['read'] }, 'scopes is not a known field. Did you mean `scope`?'],
  ['Client', { allowedOrigins: [] }, 'allowedOrigins is not a known field. Did you mean `allowed_origins`?'],
  ['Client', { jwksUri: callback }, 'jwksUri is not a known field. Did you mean `jwks_uri`?'],
  ['Client', { secret_ref: {} }, 'secret_ref is not a known field. Did you mean `secretRef`?'],
  ['Client', { 'first-party': true }, 'first-party is not a known field. Did you mean `first_party`?'],
  ['Client', { clientId: 'app' }, 'clientId is not a known field. Did you mean `id`?'],
  ['Client', { client_secret: 'x' }, 'client_secret is not a known field. Did you mean `secret`?'],
  ['Client', { client_name: 'App' }, 'client_name is not a known field. Did you mean `name`?'],
  ['Client', { enabled: true }, 'enabled is not a known field. Did you mean `active`?'],
  ['Client', { webOrigins: [] }, 'webOrigins is not a known field. Did you mean `allowed_origins`?'],
  [
    'Client',
    { redirectUris: [callback] },
    'redirectUris is not a known field. Did you mean `auth.authorization_code.redirect_uris`?',
  ],
  [
    'Client',
    { redirect_uris: [callback], auth: {} },
    'redirect_uris is not a known field. Did you mean `auth.authorization_code.redirect_uris`?',
  ],
  [
    'Client',
    { callbacks: [callback], postLogoutRedirectUri: 'x' },
    'postLogoutRedirectUri is not a known field. Did you mean `post_logout_redirect_uris`?',
  ],
  [
    'Client',
    { client_credentials: {} },
    'client_credentials is not a known field. Did you mean `auth.client_credentials`?',
  ],
  ['Client', { refresh_token: true }, 'refresh_token is not a known field'],
  ['Client', { colour: 'red' }, 'colour is not a known field'],
  [
    'Client',
    { auth: { clientCredentials: {} } },
    'auth.clientCredentials is not a known field. Did you mean `client_credentials`?',
  ],
  [
    'Client',
    { auth: { client_credentials: { access_token_expires: 60 } } },
    'auth.client_credentials.access_token_expires is not a known field. Did you mean `access_token_expiration`?',
  ],
  [
    'Client',
    { ...code, auth: { authorization_code: { redirect_uri: callback, redirectUri: callback } } },
    'auth.authorization_code.redirectUri is not a known field. Did you mean `redirect_uris`?',
  ],
  [
    'Client',
    { ...code, auth: { authorization_code: { redirect_uri: callback, callback_urls: [callback] } } },
    'auth.authorization_code.callback_urls is not a known field. Did you mean `redirect_uris`?',
  ],
  [
    'Client',
    { grant_types: ['client_credential'] },
    'grant_types[0] is not a known grant: `client_credential`. Did you mean `client_credentials`?',
  ],
  [
    'Client',
    { grant_types: ['client_credentials', 'authorizationCode'] },
    'grant_types[1] is not a known grant: `authorizationCode`. Did you mean `authorization_code`?',
  ],
  [
    'Client',
    { id_token_signed_response_alg: 'RS265' },
    'id_token_signed_response_alg is not a known value: `RS265`. Did you mean `RS256`?',
  ],
  [
    'Client',
    { id_token_signed_response_alg: 'HS512' },
    'id_token_signed_response_alg must be one of RS256, ES256, EdDSA',
  ],
  [
    'Client',
    { grant_types: ['client\ncredentials'] },
    'grant_types[0] must be one of client_credentials, implicit, authorization_code, refresh_token, password, urn:ietf:params:oauth:grant-type:token-exchange',
  ],
  ['AccessPolicy', { links: [] }, 'links is not a known field. Did you mean `link`?'],
  ['AccessPolicy', { subjects: 'link' }, 'subjects must be one of linked, authenticated, anyone, not "link"'],
  ['AccessPolicy', { engine: 'Allow' }, 'engine is not a known value: `Allow`. Did you mean `allow`?'],
  [
    'AccessPolicy',
    { engine: 'jsonSchema', schema: {} },
    'engine is not a known value: `jsonSchema`. Did you mean `json-schema`?',
  ],
  [
    'AccessPolicy',
    { link: [{ resource_type: 'Client', id: 'app' }] },
    'link[0].resource_type is not a known field. Did you mean `resourceType`?',
  ],
  ['Box', { signIn: {} }, 'signIn is not a known field. Did you mean `sign_in`?'],
  [
    'Box',
    { tokens: { defaultLifetime: 60 } },
    'tokens.defaultLifetime is not a known field. Did you mean `default_lifetime`?',
  ],
  ['Box', { default_lifetime: 60 }, 'default_lifetime is not a known field. Did you mean `tokens.default_lifetime`?'],
  [
    'Box',
    { signing: { algorithm: 'es256' } },
    'signing.algorithm is not a known value: `es256`. Did you mean `ES256`?',
  ],
];

function sentencesOf(object: unknown): readonly string[] {
  const checked = checkManifest(object);
  return checked.ok ? [] : checked.faults.map(faultSentence);
}

describe('a misspelled field or value', () => {
  for (const [kind, spec, sentence] of misspelled) {
    it(sentence, () => {
      expect(sentencesOf(manifest(kind, spec))).to.include(`spec.${sentence}`);
    });
  }

  it('is told in the same words over REST', () => {
    const checked = checkResource('Client', { id: 'app', grantTypes: ['client_credentials'] });
    expect(checked.ok ? [] : checked.faults.map(faultSentence)).to.deep.equal([
      'grant_types must be given',
      'grantTypes is not a known field. Did you mean `grant_types`?',
    ]);
  });

  it('of the object itself is told, too', () => {
    expect(sentencesOf({ ...manifest('Client', {}), Spec: {} })).to.deep.equal(['Spec is not a known field']);
    const { spec, ...others } = manifest('Client', {});
    expect(sentencesOf({ ...others, Spec: spec })).to.include('Spec is not a known field. Did you mean `spec`?');
  });

  it('never shows the value of a field', () => {
    const canary = 'bgs_canary';
    for (const name of ['secert', 'Secret', 'client_secret', 'clientSecret', 'secret_ref', 'passwrd']) {
      const text = sentencesOf(manifest('Client', { [name]: canary })).join();
      expect(text).to.contain('is not a known field');
      expect(text).not.to.contain(canary);
    }
    expect(sentencesOf(manifest('Client', { grant_types: [canary] })).join()).not.to.contain(canary);
  });

  it('is explained at most twenty times, however many there are', () => {
    const wrong = Object.fromEntries(Array.from({ length: 90 }, (_, nth) => [`grant_type${'_'.repeat(nth)}`, 1]));
    const hints = sentencesOf(manifest('Client', { grant_types: null, ...wrong })).filter((one) => one.endsWith('?'));
    expect(hints).to.have.length.within(15, 20);
  });
});
