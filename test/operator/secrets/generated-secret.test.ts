import { expect } from 'chai';
import { secretEntries, secretFacts } from '../../../operator/secrets/keeper.ts';

const facts = secretFacts('app', 'https://id.example.com/boxes/shop', 'http://boxgate.shop.svc/auth/token');
const entriesOf = (template: Record<string, string> | undefined) =>
  Object.fromEntries(secretEntries(template, facts, 'bgs_secret'));

describe('secretEntries', () => {
  it('tells an application everything it needs to get a token and to check one', () => {
    expect(entriesOf(undefined)).to.deep.equal({
      client_id: 'app',
      client_secret: 'bgs_secret',
      issuer: 'https://id.example.com/boxes/shop',
      token_url: 'https://id.example.com/boxes/shop/auth/token',
      in_cluster_token_url: 'http://boxgate.shop.svc/auth/token',
      jwks_url: 'https://id.example.com/boxes/shop/.well-known/jwks.json',
    });
  });

  it('names the one token URL twice where there is no cluster', () => {
    const { token_url, in_cluster_token_url } = secretFacts('app', 'http://127.0.0.1:8080/boxes/shop');
    expect(in_cluster_token_url).to.equal(token_url);
  });

  const templates: [title: string, template: Record<string, string>, entries: Record<string, string>][] = [
    [
      'fills in placeholders, with and without blanks',
      {
        OIDC_ID: '{{client_id}}',
        OIDC_SECRET: '{{ client_secret }}',
        OIDC: '{{issuer}} {{token_url}}',
        IN: '{{in_cluster_token_url}}',
      },
      {
        OIDC_ID: 'app',
        OIDC_SECRET: 'bgs_secret',
        OIDC: `${facts.issuer} ${facts.token_url}`,
        IN: facts.in_cluster_token_url,
      },
    ],
    [
      'adds the secret to a template that would lose it',
      { id: '{{client_id}}' },
      { id: 'app', client_secret: 'bgs_secret' },
    ],
    [
      'leaves other braces alone',
      { all: '{{client_secret}} {"a":{}} {{unknown}}' },
      { all: 'bgs_secret {"a":{}} {{unknown}}' },
    ],
  ];
  for (const [title, template, entries] of templates) {
    it(title, () => {
      expect(entriesOf(template)).to.deep.equal(entries);
    });
  }
});
