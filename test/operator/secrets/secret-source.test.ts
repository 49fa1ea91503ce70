import { expect } from 'chai';
import { validate } from '../../../operator/desired/validate.ts';
import { secretColumn, secretName } from '../../../operator/secrets/resolve.ts';
import { declared } from '../declare.ts';

const code = { authorization_code: { redirect_uri: 'https://app.example.com/back' } };
const jwks = { keys: [{ kty: 'RSA', n: 'w'.repeat(342), e: 'AQAB' }] };

const cases: [title: string, spec: Record<string, unknown>, from: string][] = [
  ['a machine client that says nothing', { grant_types: ['client_credentials'] }, 'generated'],
  ['a client that asks for one', { grant_types: ['authorization_code'], auth: code, generateSecret: {} }, 'generated'],
  ['a secret in the manifest', { grant_types: ['client_credentials'], secret: 'chosen' }, 'inline'],
  [
    'a secretRef',
    { grant_types: ['client_credentials'], secretRef: { name: 'reporting', key: 'secret' } },
    'reference',
  ],
  ['keys', { grant_types: ['client_credentials'], jwks }, 'nowhere'],
  ['keys elsewhere', { grant_types: ['client_credentials'], jwks_uri: 'https://app.example.com/jwks' }, 'nowhere'],
  [
    'a ServiceAccount',
    { grant_types: ['client_credentials'], service_accounts: [{ namespace: 'shop', name: 'app' }] },
    'nowhere',
  ],
  ['a public client', { grant_types: ['authorization_code'], auth: code }, 'nowhere'],
  [
    'a code client that must have one',
    {
      grant_types: ['authorization_code'],
      auth: { authorization_code: { ...code.authorization_code, secret_required: true } },
    },
    'generated',
  ],
  [
    'the implicit grant',
    { grant_types: ['implicit'], auth: { implicit: { redirect_uri: 'https://app.example.com/back' } } },
    'nowhere',
  ],
  ['C-02 a client without a grant, which introspects tokens', { grant_types: [] }, 'generated'],
  ['C-02 a client without a grant that has keys', { grant_types: [], jwks }, 'nowhere'],
  ['token exchange', { grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange'] }, 'generated'],
];

describe('secretSource', () => {
  for (const [title, spec, from] of cases) {
    it(`is ${from} for ${title}`, () => {
      const validated = validate(declared('Client', 'app', spec));
      expect(validated.faults).to.deep.equal([]);
      expect(validated.secret.from).to.equal(from);
    });
  }

  const names: [title: string, spec: Record<string, unknown>, name: string | undefined][] = [
    ['after the Client', {}, 'app'],
    ['after the Client too when it is only asked for', { generateSecret: {} }, 'app'],
    ['as the manifest says', { generateSecret: { name: 'app-x' } }, 'app-x'],
    ['as the reference says', { secretRef: { name: 'r', key: 'k' } }, 'r'],
    ['not at all where there is none', { jwks }, undefined],
  ];
  for (const [title, spec, name] of names) {
    it(`names the Secret ${title}`, () => {
      const validated = validate(declared('Client', 'app', { grant_types: ['client_credentials'], ...spec }));
      expect(secretName(validated.secret, 'app')).to.equal(name);
    });
  }

  const account = { namespace: 'shop', name: 'app' };
  const columns: [title: string, spec: Record<string, unknown>, column: string][] = [
    ['a public client', { grant_types: ['authorization_code'], auth: code }, 'none (public)'],
    ['keys', { jwks }, 'none (keys)'],
    ['keys elsewhere', { jwks_uri: 'https://app.example.com/jwks' }, 'none (keys)'],
    ['keys next to ServiceAccounts', { jwks, service_accounts: [account] }, 'none (keys)'],
    ['ServiceAccounts', { service_accounts: [account] }, 'none (accounts)'],
    ['a secret next to keys', { jwks, generateSecret: {} }, 'generated'],
    ['a machine client', {}, 'generated'],
    ['a secret in the manifest', { secret: 'chosen' }, 'inline'],
    ['a secretRef', { secretRef: { name: 'r', key: 'k' } }, 'reference'],
    ['a faulty client', { grant_types: ['x'] }, ''],
  ];
  for (const [title, spec, column] of columns) {
    it(`is shown in the column SECRET as ${JSON.stringify(column)} for ${title}`, () => {
      const { secret } = validate(declared('Client', 'app', { grant_types: ['client_credentials'], ...spec }));
      expect(secretColumn(secret)).to.equal(column);
      expect(column.length, 'as long as a definition of an earlier release permits').to.be.at.most(16);
    });
  }

  it('shows no secret of a manifest when it is printed', () => {
    const { secret } = validate(declared('Client', 'app', { grant_types: ['client_credentials'], secret: 'canary-7' }));
    expect(JSON.stringify(secret)).to.not.contain('canary');
  });

  it('is nowhere for a policy', () => {
    expect(validate(declared('AccessPolicy', 'p', { engine: 'allow' })).secret.from).to.equal('nowhere');
  });
});
