import { expect } from 'chai';
import { validate } from '../../../operator/desired/validate.ts';
import { danglingLinks, linksToAsk } from '../../../operator/desired/desired.ts';
import { allowPolicy, declared, desired, machineClient } from '../declare.ts';

describe('linksToAsk', () => {
  const forAdmins = declared('AccessPolicy', 'a', { engine: 'allow', link: [{ reference: 'Group/admins' }] });
  const policies = [allowPolicy('p', 'here', 'there', 'unknown'), allowPolicy('q', 'unknown'), forAdmins].map((one) =>
    desired(one),
  );
  const isHere = (key: string): boolean => key === 'Client/here';

  it('asks once for each link that is not declared and of which nothing is known', () => {
    const asked = linksToAsk([...policies, desired(machineClient('here'))], isHere, new Map([['Client/there', true]]));
    expect(asked).to.deep.equal([
      { resourceType: 'Client', id: 'unknown' },
      { resourceType: 'Group', id: 'admins' },
    ]);
  });

  it('does not ask again for what is known to be missing', () => {
    const known = new Map([
      ['Client/there', true],
      ['Client/unknown', false],
      ['Group/admins', false],
    ]);
    expect(linksToAsk(policies, isHere, known)).to.deep.equal([]);
  });
});

describe('danglingLinks', () => {
  const nothing = (): boolean => false;
  const link = [
    { resourceType: 'Group', id: 'admins' },
    { reference: 'User/7' },
    { resourceType: 'Client', id: 'app' },
  ];

  it('names what is not there as Type/id', () => {
    const validated = validate(declared('AccessPolicy', 'p', { engine: 'allow', link }));
    expect(danglingLinks(validated, (key) => key === 'Client/app')).to.deep.equal(['Group/admins', 'User/7']);
    expect(danglingLinks(validated, () => true)).to.deep.equal([]);
  });

  it('names each once', () => {
    expect(danglingLinks(validate(allowPolicy('p', 'a', 'b', 'a')), nothing)).to.deep.equal(['Client/a', 'Client/b']);
  });

  it('has nothing to say of a client', () => {
    expect(danglingLinks(validate(machineClient('app')), nothing)).to.deep.equal([]);
  });
});
