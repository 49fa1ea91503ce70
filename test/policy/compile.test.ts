import { expect } from 'chai';
import fc from 'fast-check';
import { CompiledPolicy } from '../../api/policy/compile.ts';
import type { RequestObject } from '../../api/policy/request-object.ts';
import { Steps } from '../../api/policy/steps.ts';
import { compiled, sampleRequest, storedPolicy } from './policies.ts';

/** One rule of each engine that looks at the request, and grants the sample. */
const rules = {
  'json-schema': { schema: { required: ['uri'], properties: { body: { required: ['a'] } } } },
  matcho: { matcho: { uri: 'present?', body: { a: 1 } } },
  cel: { expression: 'uri != "" && body.a == 1' },
  complex: { and: [{ engine: 'matcho', matcho: { uri: 'present?', body: { a: 1 } } }] },
};

describe('compiled policies', () => {
  const stored: [what: string, engine: unknown][] = [
    ['is missing', undefined],
    ['is null', null],
    ['is not a word', 5],
    ['is a list', ['allow']],
    ['is unknown', 'rego'],
    ['is in capitals', 'ALLOW'],
    ['has a blank', 'allow '],
    ['begins with a blank', ' allow'],
    ['is empty', ''],
    ['is a member of every object', 'toString'],
    ['is __proto__', '__proto__'],
    ['is constructor', 'constructor'],
  ];
  for (const [what, engine] of stored) {
    it(`P-02 a stored policy whose engine ${what} grants nothing and says so`, () => {
      const policy = compiled({ engine, matcho: {}, schema: {}, expression: 'true' });
      expect(policy.fault).to.equal(
        'engine: must be one of allow, json-schema, matcho, cel, complex, exactly as written here',
      );
      expect(policy.allows(sampleRequest())).to.be.false;
      expect(policy.evaluate(sampleRequest())).to.deep.equal({ granted: false, fault: policy.fault });
    });
  }

  for (const [engine, rule] of Object.entries(rules)) {
    it(`${engine}: grants, and has no fault`, () => {
      const policy = compiled({ engine, ...rule });
      expect(policy.evaluate(sampleRequest({ body: { a: 1 } }))).to.deep.equal({ granted: true });
      expect(policy.fault).to.equal(undefined);
    });

    it(`${engine}: a policy that throws denies`, () => {
      const policy = compiled({ engine, ...rule });
      const { granted, fault } = policy.evaluate(throwingRequest());
      expect(granted).to.be.false;
      expect(fault).to.match(/(^|: )not today$/);
      expect(policy.allows(throwingRequest())).to.be.false;
      expect(policy.allows(sampleRequest({ body: { a: 1 } })), 'and works again').to.be.true;
    });

    it(`${engine}: a policy that throws what is no error denies`, () => {
      const policy = compiled({ engine, ...rule });
      expect(policy.evaluate(throwingRequest('a string')).granted).to.be.false;
    });

    it(`${engine}: a policy without its rule grants nothing`, () => {
      const policy = compiled({ engine });
      expect(policy.fault).to.match(/^[a-z]+: must be given/);
      expect(policy.allows(sampleRequest())).to.be.false;
    });

    it(`${engine}: a policy without steps left does not grant`, () => {
      const policy = compiled({ engine, ...rule });
      expect(policy.allows(sampleRequest({ body: { a: 1 } }), new Steps(0))).to.be.false;
    });

    it(`${engine}: never throws, whatever the request`, () => {
      const policy = compiled({ engine, ...rule });
      fc.assert(
        fc.property(fc.anything(), (body) => {
          expect(policy.allows(sampleRequest({ body }))).to.be.a('boolean');
        }),
      );
    });
  }

  it('compiles nothing before it is asked, and once', () => {
    let reads = 0;
    const policy = new CompiledPolicy(
      new Proxy(storedPolicy({ engine: 'cel', expression: 'true' }), {
        get(target, name): unknown {
          if (name === 'expression') reads += 1;
          return Reflect.get(target, name);
        },
      }),
    );
    expect(policy.id).to.equal('p');
    expect(reads).to.equal(0);
    for (let time = 0; time < 3; time += 1) expect(policy.allows(sampleRequest())).to.be.true;
    expect(policy.fault).to.equal(undefined);
    expect(reads).to.equal(1);
  });

  it('never throws, whatever is stored', () => {
    const engine = fc.constantFrom('allow', 'json-schema', 'matcho', 'cel', 'complex', 'x');
    const fields = fc.record(
      { schema: fc.anything(), matcho: fc.anything(), expression: fc.anything(), and: fc.anything() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(engine, fields, (name, rest) => {
        expect(compiled({ ...rest, engine: name }).allows(sampleRequest())).to.be.a('boolean');
      }),
    );
  });
});

/** A request of which nothing can be read. */
function throwingRequest(thrown: unknown = new Error('not today')): RequestObject {
  const refuse = () => {
    throw thrown;
  };
  return new Proxy(sampleRequest(), { get: refuse, has: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse });
}
