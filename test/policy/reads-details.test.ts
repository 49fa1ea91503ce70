import { expect } from 'chai';
import { mayReadDetails } from '../../api/policy/reads-details.ts';

describe('a policy', () => {
  const client = (schema: object): object => ({ engine: 'json-schema', schema: { properties: { client: schema } } });
  const plain: readonly (readonly [what: string, policy: object])[] = [
    ['about the path', { engine: 'matcho', matcho: { uri: '/x' } }],
    ['about the ID of the client', { engine: 'matcho', matcho: { client: { id: 'web' } } }],
    ['about its name in CEL', { engine: 'cel', expression: 'client.name == "web"' }],
    ['with a schema about its ID', client({ type: 'object', required: ['id'], properties: { id: { const: 'web' } } })],
  ];
  for (const [what, policy] of plain) {
    it(`${what} does not read its details`, () => {
      expect(mayReadDetails(policy)).to.equal(false);
    });
  }

  const reading: readonly (readonly [what: string, policy: unknown])[] = [
    ['that is no object', 'x'],
    ['with a schema that requires details', client({ required: ['details'] })],
    ['with a condition that requires them', { schema: { if: { properties: { client: { required: ['details'] } } } } }],
    ['that requires one of several fields', client({ required: ['id', 'description'] })],
    ['whose list of required fields is none', client({ required: 'details' })],
    ['with a schema about the number of its fields', client({ minProperties: 5 })],
    ['with a pattern for details', { engine: 'matcho', matcho: { client: { details: { tier: 'gold' } } } }],
    ['that compares with them', { engine: 'matcho', matcho: { client: { id: '.client.details.id' } } }],
    ['that reads them in CEL', { engine: 'cel', expression: 'client.details.tier == "gold"' }],
    ['that passes the client on in CEL', { engine: 'cel', expression: '[client].exists(c, c.details != null)' }],
    ['that names them in a rule of several', { engine: 'complex', and: [client({ required: ['details'] })] }],
  ];
  for (const [what, policy] of reading) {
    it(`${what} may read details`, () => {
      expect(mayReadDetails(policy)).to.equal(true);
    });
  }
});
