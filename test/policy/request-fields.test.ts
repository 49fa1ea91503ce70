import { expect } from 'chai';
import { compiled, sampleRequest } from './policies.ts';

// E-19
describe('a name below a part of the request object', () => {
  const faults: readonly [matcho: unknown, fault: RegExp | string][] = [
    [
      { client: { naem: { $not: 'x' } } },
      /^matcho\.client\.naem: is not a field of client; its fields are .*, name, .* Did you mean `name`\?$/,
    ],
    [{ $not: { user: { $not: { mail: 'x' } } } }, /^matcho\.\$not\.user\.\$not\.mail: .* Did you mean `email`\?$/],
    [
      { session: { '$one-of': [{ stat: 'nil?' }] } },
      /^matcho\.session\.\$one-of\[0\]\.stat: is not a field of session/,
    ],
    [
      { resource: { type: 'nil?' } },
      'matcho.resource.type: is not a field of resource; its fields are resourceType, id',
    ],
    [{ token: { tenant: 'nil?' } }, /^matcho\.token\.tenant: is not a field of token; its fields are client_id, exp, /],
    [{ client: { secret: 'nil?' } }, /^matcho\.client\.secret: is not a field of client/],
    [{ box: { id: 'nil?' } }, 'matcho.box.id: is not a field of box, which is a text'],
    [
      { params: { id: { $not: '.user.ids' } } },
      /^matcho\.params\.id\.\$not: names "ids", which is not a field of user; .* Did you mean `id`\?$/,
    ],
  ];
  for (const [matcho, fault] of faults) {
    it(`is a fault where no request has it: ${JSON.stringify(matcho)}`, () => {
      const policy = compiled({ engine: 'matcho', matcho });
      if (typeof fault === 'string') expect(policy.fault).to.equal(fault);
      else expect(policy.fault).to.match(fault);
      expect(policy.allows(sampleRequest())).to.be.false;
    });
  }

  it('may be any where the fields are those of the author', () => {
    const free = { naem: 'nil?' };
    for (const matcho of [
      { client: { details: free, auth: free }, user: { data: free, groups: { $contains: free } }, body: free },
      { params: free, headers: free, user: { $contains: free }, resource: { id: { $not: '.user.data.naem' } } },
    ]) {
      expect(compiled({ engine: 'matcho', matcho }).fault).to.be.undefined;
    }
  });
});
