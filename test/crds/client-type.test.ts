import { expect } from 'chai';
import type { Client } from '../../crds/client.ts';
import { confidentialFault, isConfidential } from '../../crds/client-type.ts';

const machine: Client = { resourceType: 'Client', id: 'app', grant_types: ['client_credentials'] };
const key = { kty: 'RSA' as const, n: 'w'.repeat(342), e: 'AQAB' };

const cases: [title: string, fields: Partial<Client>, hasStoredSecret: boolean, confidential: boolean][] = [
  ['nothing at all', {}, false, false],
  ['a secret', { secret: 's3cret' }, false, true],
  ['a stored secret that is kept', {}, true, true],
  ['a stored secret that is removed', { secret: null }, true, false],
  ['a secret that is removed and was not there', { secret: null }, false, false],
  ['keys', { jwks: { keys: [key] } }, false, true],
  ['keys, its secret removed', { jwks: { keys: [key] }, secret: null }, true, true],
  ['keys elsewhere', { jwks_uri: 'https://app.example.com/jwks.json' }, false, true],
  ['service accounts', { service_accounts: [{ namespace: 'shop', name: 'app' }] }, false, true],
];

describe('confidentialFault', () => {
  for (const [title, fields, hasStoredSecret, confidential] of cases) {
    it(`${confidential ? 'lets' : 'refuses'} client_credentials of a client with ${title}`, () => {
      const client = { ...machine, ...fields };
      expect(isConfidential(client, hasStoredSecret)).to.equal(confidential);
      expect(confidentialFault(client, hasStoredSecret)?.path).to.equal(confidential ? undefined : 'secret');
    });
  }

  it('asks nothing of a client without that grant', () => {
    expect(confidentialFault({ ...machine, grant_types: ['implicit', 'authorization_code'] }, false)).to.equal(
      undefined,
    );
  });
});
