import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { isGeneratedSecret } from '../../crds/generated-secret-text.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { checkResource } from '../../crds/validate.ts';
import { APP_TYPES, appTypeOf, generatedSecret, newClientText, withAppType } from '../../api/ui/client/app-type.ts';
import { COMMON_POLICIES, commonPolicy } from '../../api/ui/policy/policy-templates.ts';
import { draftValue, withMember } from '../../api/ui/record/json-draft.ts';
import { manifestOf, yamlOf } from '../../api/ui/record/manifest.ts';

describe('the texts that the form of a client makes', () => {
  it('have secrets of the generated form, another one each time', () => {
    const secrets = Array.from({ length: 50 }, generatedSecret);
    expect(secrets.filter((secret) => !isGeneratedSecret(secret))).to.deep.equal([]);
    expect(new Set(secrets)).to.have.length(50);
  });

  it('are clients that the API takes, for each type of app, and are read as that type', () => {
    for (const type of APP_TYPES) {
      const empty = withAppType({ id: 'app', grant_types: ['client_credentials'] }, type);
      const signsIn = type === 'web' || type === 'spa';
      const client = signsIn
        ? withMember(empty, 'auth.authorization_code.redirect_uris', ['https://app.example.com/back'])
        : empty;
      const sent = draftValue({ json: newClientText({ json: JSON.stringify(client) }) }) ?? {};
      expect(checkResource('Client', sent), type).to.have.property('ok', true);
      expect(isGeneratedSecret(String(sent['secret'])), type).to.equal(type !== 'spa');
      expect(appTypeOf(sent), type).to.equal(type);
      const manifest: unknown = parse(manifestOf('Client', 'shop', sent));
      expect(checkManifest(manifest), type).to.have.property('ok', true);
      expect(JSON.stringify(manifest), type).not.to.contain('bgs_');
    }
  });

  it('keep the settings of a web app that becomes a single-page app, and drop them for a service', () => {
    const settings = { redirect_uris: ['https://a.example/b'], secret_required: true };
    const web = { grant_types: ['authorization_code'], auth: { authorization_code: settings } };
    expect(withAppType(web, 'spa')).to.deep.equal({
      grant_types: ['authorization_code'],
      auth: { authorization_code: { ...settings, secret_required: false } },
    });
    expect(withAppType(web, 'service')).to.deep.equal({ grant_types: ['client_credentials'] });
  });

  it('do not touch a secret, keys or JSON that is not valid', () => {
    for (const json of [
      '{"grant_types": [], "secret": "own"}',
      '{"grant_types": [], "jwks": {"keys": []}}',
      '{',
      '[]',
    ]) {
      expect(newClientText({ json })).to.equal(json);
    }
  });

  it('are policies that the API takes, with an ID of their own', () => {
    const wanted = { record: 'users', app: 'orders.example', path: '/v1/orders/' } as const;
    const policies = COMMON_POLICIES.map((sort) => commonPolicy('app', { ...wanted, sort }));
    for (const policy of policies)
      expect(checkResource('AccessPolicy', policy), policy.id).to.have.property('ok', true);
    expect(policies.map(({ id }) => id)).to.deep.equal([
      'app-read-users',
      'app-orders.example-v1-orders',
      'app-everything',
    ]);
    expect(policies.map((policy) => policy.expression)).to.deep.equal([
      'request_method in ["get", "head"] && (uri == "/users" || uri.startsWith("/users/"))',
      '(uri == "/v1/orders" || uri.startsWith("/v1/orders/"))',
      undefined,
    ]);
  });

  it('are YAML that means what the JSON does, also to kubectl', () => {
    const words = fc.constantFrom(
      'yes',
      'n',
      '012',
      '1e3',
      'a: b',
      '- a',
      '# a',
      'a #b',
      'null',
      '',
      ' a ',
      'ä',
      'a\nb',
      '/x',
      'a:b',
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        words,
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('any'), { maxLength: 3 }),
      map: fc.dictionary(fc.oneof(words, fc.string()), tie('any'), { maxKeys: 3, noNullPrototype: true }),
    })).any;
    fc.assert(
      fc.property(value, (one) => {
        expect(parse(yamlOf(one)), yamlOf(one)).to.deep.equal(one);
        expect(parse(yamlOf(one), { version: '1.1' }), yamlOf(one)).to.deep.equal(one);
      }),
      { numRuns: 2_000, examples: [['E0'], ['e-5']] },
    );
  });
});
