import { expect } from 'chai';
import { declaredRights, declaredRoles, rightsIn, rulesWithout, type Right } from './declared-rights.ts';
import { rightCases } from './right-cases.ts';

const names = (rights: readonly Right[]): string[] => rights.map(({ name }) => name);

describe('the cases of rights that are taken away', () => {
  it('K-02: are one for each right that operator/rbac gives', () => {
    expect(Object.keys(rightCases)).to.have.members(names(declaredRights()));
    expect(Object.keys(rightCases)).to.include.members(['delete /secrets', 'get /openid/v1/jwks']);
  });

  for (const { role, rules } of declaredRoles()) {
    for (const right of rightsIn(rules, role)) {
      it(`K-02: ${role.name} without ${right.name} has its other rights`, () => {
        const others = rightsIn(rules, role).filter((one) => one.name !== right.name);
        expect(names(rightsIn(rulesWithout(rules, right), role))).to.have.members(names(others));
      });
    }
  }
});
