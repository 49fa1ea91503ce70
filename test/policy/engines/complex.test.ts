import { expect } from 'chai';
import fc from 'fast-check';
import { compiled, sampleRequest } from '../policies.ts';

const YES = { engine: 'allow' };
const NO = { engine: 'matcho', matcho: { uri: '/never' } };
/** Reads a field of a user where there is none. */
const FAILS = { engine: 'cel', expression: 'user.id == 1' };

describe('engine complex', () => {
  const rows: [rule: Record<string, unknown>, granted: boolean][] = [
    [{ and: [YES] }, true],
    [{ and: [YES, YES] }, true],
    [{ and: [YES, NO] }, false],
    [{ and: [NO, YES] }, false],
    [{ and: [YES, FAILS] }, false],
    [{ and: [FAILS, YES] }, false],
    [{ or: [YES] }, true],
    [{ or: [NO, YES] }, true],
    [{ or: [YES, NO] }, true],
    [{ or: [NO, NO] }, false],
    [{ or: [FAILS, YES] }, true],
    [{ or: [FAILS, NO] }, false],
    [
      {
        and: [
          { engine: 'matcho', matcho: { 'request-method': 'get' } },
          { engine: 'json-schema', schema: { required: ['client'] } },
          { engine: 'cel', expression: 'uri.startsWith("/Client")' },
        ],
      },
      true,
    ],
  ];
  for (const [rule, granted] of rows) {
    it(`${JSON.stringify(rule)} ${granted ? 'grants' : 'denies'}`, () => {
      const policy = compiled({ engine: 'complex', ...rule });
      expect(policy.fault).to.equal(undefined);
      expect(policy.allows(sampleRequest())).to.equal(granted);
    });
  }

  const faults: [rule: Record<string, unknown>, fault: RegExp][] = [
    [{}, /^and: must be given, or or: a list of rules of the other engines$/],
    [{ and: [YES], or: [YES] }, /^or: must not stand beside and/],
    [{ and: [] }, /^and: must be a list with at least one rule$/],
    [{ or: {} }, /^or: must be a list/],
    [{ or: null }, /^or: must be a list/],
    [{ and: [YES, 'allow'] }, /^and\[1\]: must be a rule/],
    [
      { and: [{ engine: 'complex', and: [YES] }] },
      /^and\[0\]\.engine: must be one of allow, json-schema, matcho, cel$/,
    ],
    [{ and: [{ engine: 'ALLOW' }] }, /^and\[0\]\.engine: must be one of/],
    [{ and: [{}] }, /^and\[0\]\.engine: must be one of/],
    [{ and: [YES, { engine: 'json-schema' }] }, /^and\[1\]\.schema: must be given/],
    [
      { or: [{ engine: 'json-schema', schema: { properties: { uri: { constant: 1 } } } }] },
      /^or\[0\]\.schema\.properties\.uri: has the unknown keyword "constant"$/,
    ],
    [
      { or: [YES, { engine: 'matcho', matcho: { uri: { $b: 1 } } }] },
      /^or\[1\]\.matcho\.uri\.\$b: is not a known word/,
    ],
    [
      { or: [YES, { engine: 'cel', expression: 'uri' }] },
      /^or\[1\]\.expression: is not valid in line 1, column 1: must be a boolean expression/,
    ],
  ];
  for (const [rule, fault] of faults) {
    it(`says what is wrong with ${JSON.stringify(rule).slice(0, 70)}, and grants nothing`, () => {
      const policy = compiled({ engine: 'complex', ...rule });
      expect(policy.fault).to.match(fault);
      expect(policy.allows(sampleRequest())).to.be.false;
    });
  }

  it('tells the failure of a rule in or when none grants', () => {
    expect(compiled({ engine: 'complex', or: [NO, FAILS] }).evaluate(sampleRequest()).fault).to.contain('id');
  });

  const rules = fc.array(fc.constantFrom(YES, NO, FAILS), { minLength: 1, maxLength: 6 });
  const grants = (rule: unknown) => rule === YES;

  it('and grants when every rule does, or when some rule does, in whatever order', () => {
    fc.assert(
      fc.property(rules, (list) => {
        expect(compiled({ engine: 'complex', and: list }).allows(sampleRequest())).to.equal(list.every(grants));
        expect(compiled({ engine: 'complex', or: list }).allows(sampleRequest())).to.equal(list.some(grants));
        const turned = [...list].reverse();
        expect(compiled({ engine: 'complex', or: turned }).allows(sampleRequest())).to.equal(list.some(grants));
      }),
    );
  });

  it('one rule alone is that rule, in and as in or', () => {
    fc.assert(
      fc.property(fc.constantFrom(YES, NO, FAILS), (rule) => {
        const alone = compiled(rule).allows(sampleRequest());
        expect(compiled({ engine: 'complex', and: [rule] }).allows(sampleRequest())).to.equal(alone);
        expect(compiled({ engine: 'complex', or: [rule] }).allows(sampleRequest())).to.equal(alone);
      }),
    );
  });

  it('never throws, whatever the rules', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (and, or) => {
        expect(compiled({ engine: 'complex', and, or }).allows(sampleRequest())).to.be.a('boolean');
        expect(compiled({ engine: 'complex', and }).allows(sampleRequest())).to.be.a('boolean');
      }),
    );
  });
});
