import { expect } from 'chai';
import { judge } from '../../operator/judge.ts';
import { danglingLinks, linksToProbe } from '../../operator/links.ts';
import { allowPolicy, declared, desired, machineClient } from './declare.ts';

describe('linksToProbe', () => {
  const policies = [allowPolicy('p', 'here', 'there', 'unknown'), allowPolicy('q', 'unknown')].map((one) =>
    desired(one),
  );
  const isHere = (key: string): boolean => key === 'Client/here';

  it('asks once for each client that is not declared and of which nothing is known', () => {
    const probes = linksToProbe(
      [...policies, desired(machineClient('here'))],
      isHere,
      new Map([['Client/there', true]]),
    );
    expect(probes).to.deep.equal(['unknown']);
  });

  it('does not ask again for what is known to be missing', () => {
    const known = new Map([
      ['Client/there', true],
      ['Client/unknown', false],
    ]);
    expect(linksToProbe(policies, isHere, known)).to.deep.equal([]);
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
    const judged = judge(declared('AccessPolicy', 'p', { engine: 'allow', link }));
    expect(danglingLinks(judged, (key) => key === 'Client/app')).to.equal('Group/admins, User/7');
    expect(danglingLinks(judged, () => true)).to.equal('');
  });

  it('names five at most', () => {
    const clients = Array.from({ length: 1_000 }, (_, nth) => `c${String(nth)}`);
    expect(danglingLinks(judge(allowPolicy('p', ...clients)), nothing)).to.equal(
      'Client/c0, Client/c1, Client/c2, Client/c3, Client/c4 and 995 more',
    );
  });

  it('has nothing to say of a client', () => {
    expect(danglingLinks(judge(machineClient('app')), nothing)).to.equal('');
  });
});
