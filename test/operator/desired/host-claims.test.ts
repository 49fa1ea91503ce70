import { expect } from 'chai';
import { validateHosts, type HostClaim } from '../../../operator/desired/hosts.ts';
import { annotationEntries } from '../../../operator/desired/candidates.ts';

function claim(box: string, created: string, hosts: readonly string[], granted = hosts): HostClaim {
  return { box, uid: `uid-of-${box}`, created, hosts, granted };
}

describe('validateHosts', () => {
  const shown = (claims: readonly HostClaim[]) =>
    Object.fromEntries(
      [...validateHosts(claims, 'auth.example.com')].map(([box, { allowed, refused }]) => [
        box,
        [...allowed, ...refused.map(({ host, reason }) => `${host}: ${reason}`)],
      ]),
    );

  const cases: readonly (readonly [string, readonly HostClaim[], Readonly<Record<string, readonly string[]>>])[] = [
    ['gives what is granted', [claim('a', '1', ['a.test'])], { a: ['a.test'] }],
    ['gives nothing that is not', [claim('a', '1', ['a.test'], [])], { a: ['a.test: HostNotGranted'] }],
    ['does not mind upper case', [claim('a', '1', ['A.test'], ['a.TEST'])], { a: ['a.test'] }],
    [
      'never gives the public host, nor a name below .svc, whatever is granted',
      [claim('a', '1', ['auth.example.com', 'boxgate.b.svc', 'boxgate.b.svc.cluster.local'])],
      {
        a: [
          'auth.example.com: HostNotGranted',
          'boxgate.b.svc: HostNotGranted',
          'boxgate.b.svc.cluster.local: HostNotGranted',
        ],
      },
    ],
    [
      'gives a host to the oldest of those that claim it',
      [claim('young', '2', ['x.test', 'y.test']), claim('old', '1', ['x.test'])],
      { old: ['x.test'], young: ['y.test', 'x.test: HostConflict'] },
    ],
    [
      'takes an older claim that is not granted for none',
      [claim('young', '2', ['x.test']), claim('old', '1', ['x.test'], [])],
      { old: ['x.test: HostNotGranted'], young: ['x.test'] },
    ],
    [
      'tells boxes of one moment by their uid',
      [claim('b', '1', ['x.test']), claim('a', '1', ['x.test'])],
      { a: ['x.test'], b: ['x.test: HostConflict'] },
    ],
  ];
  for (const [what, claims, expected] of cases) {
    it(`P-12 ${what}`, () => expect(shown(claims)).to.deep.equal(expected));
  }

  it('P-11 names nothing of another namespace', () => {
    const verdicts = validateHosts([claim('secret-tenant', '1', ['x.test']), claim('b', '2', ['x.test'])], '');
    expect(JSON.stringify(verdicts.get('b'))).not.to.contain('secret-tenant');
  });

  it('reads an annotation with commas and blanks', () => {
    expect(annotationEntries(' a.test,b.test\n c.test ,')).to.deep.equal(['a.test', 'b.test', 'c.test']);
    expect(annotationEntries(undefined)).to.deep.equal([]);
  });
});
