import { expect } from 'chai';
import { QUOTA_DEFAULTS } from '../../../crds/quota.ts';
import { readQuota } from '../../../operator/desired/candidates.ts';

describe('readQuota', () => {
  const quotas = [
    [undefined, {}],
    ['', {}],
    ['clients=20000,users=5000', { clients: 20_000, users: 5_000 }],
    [' clients=1 ,  bytes=0\n', { clients: 1, bytes: 0 }],
    ['requests=1000000000000', { requests: 1_000_000_000_000 }],
    [
      Object.keys(QUOTA_DEFAULTS)
        .map((name) => `${name}=7`)
        .join(),
      mapped(7),
    ],
  ] as const;
  for (const [annotation, quota] of quotas) {
    it(`R-53 reads ${JSON.stringify(annotation)}`, () => {
      expect(readQuota(annotation)).to.deep.equal({ quota });
    });
  }

  const faults = [
    ['client=20000', '"client" is no quota: clients, policies, users, groups, bytes, sessions, requests'],
    ['constructor=1', '"constructor" is no quota'],
    ['clients=20k', '"clients=20k" is not a name, "=" and a number'],
    ['clients=-1', 'is not a name'],
    ['clients=1.5', 'is not a name'],
    ['clients', 'is not a name'],
    ['clients = 5', 'is not a name'],
    ['clients=1000000000001', 'is not a name'],
    ['clients=1,clients=2', 'clients is set twice'],
    ['clients=5,users=many', '"users=many" is not a name'],
    [`${'x'.repeat(100_000)}=1`, `"${'x'.repeat(40)}" is no quota`],
  ] as const;
  for (const [annotation, message] of faults) {
    it(`R-53 takes nothing of ${annotation.slice(0, 60)}, and names the mistake`, () => {
      const { quota, fault } = readQuota(annotation);
      expect(quota).to.equal(undefined);
      expect(fault).to.contain(`annotation boxgate.dev/quota of the Namespace cannot be read: `).and.contain(message);
    });
  }
});

function mapped(limit: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.keys(QUOTA_DEFAULTS).map((name) => [name, limit]));
}
