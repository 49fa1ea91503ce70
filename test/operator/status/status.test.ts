import { expect } from 'chai';
import { TransitionPool } from '../../../operator/status/status.ts';
import { allowPolicy, declared, machineClient } from '../declare.ts';
import { resultOf, NOW, publishedStatus } from '../result-of.ts';

const later = '2026-01-02T00:00:00.000Z';
const client = machineClient('app');
const policy = allowPolicy('p', 'app');

describe('statusOf', () => {
  it('moves the time of a condition only when it flips, and the observed generation always', () => {
    const first = publishedStatus(resultOf(client, { row: 'pending' }));
    const changed = { ...client, generation: 2 };
    const second = publishedStatus(resultOf(changed), first.conditions, later);
    const times = Object.fromEntries(
      second.conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    );
    expect(times).to.deep.equal({ Ready: later, Valid: NOW, SecretReady: NOW, Synced: later, Granted: NOW });
    expect(new Set(second.conditions.map(({ observedGeneration }) => observedGeneration))).to.deep.equal(new Set([2]));
    expect(second.observedGeneration).to.equal(2);
  });

  it('remembers when conditions flipped in one list for all objects whose did at once', () => {
    const pool = new TransitionPool();
    const flips = (name: string, time = NOW) =>
      pool.of(publishedStatus(resultOf(machineClient(name), { policies: 1 }), [], time).conditions);
    const one = flips('one');
    expect(flips('other')).to.equal(one);
    expect(flips('later', later)).to.not.equal(one);
    expect(publishedStatus(resultOf(client, { policies: 1 }), one, later)).to.deep.equal(
      publishedStatus(resultOf(client, { policies: 1 })),
    );
  });

  it('has the columns of kubectl get', () => {
    expect(publishedStatus(resultOf(client, { policies: 1 })).columns).to.deep.equal({
      kind: 'Client',
      id: 'app',
      grants: 'client_credentials',
      secret: 'generated',
      secretName: 'app',
      issuer: '',
      inClusterTokenUrl: '',
      policies: 1,
      serviceAccounts: [],
      usage: undefined,
    });
    const resourceServer = declared('Client', 'api', { grant_types: [] });
    expect(publishedStatus(resultOf(resourceServer)).columns).to.include({ grants: 'none', secret: 'generated' });
    expect(publishedStatus(resultOf(policy)).columns).to.deep.equal({
      kind: 'AccessPolicy',
      id: 'p',
      engine: 'allow',
      subjects: '1',
      resolvedLinks: ['Client/app'],
      danglingLinks: [],
      lastUsed: undefined,
    });
    expect(
      publishedStatus(
        resultOf(declared('Box', 'box', {}), {
          ...{ issuer: 'i', inClusterTokenUrl: 'u', database: 'eu', clients: 1, policies: 2 },
        }),
      ).columns,
    ).to.deep.equal({
      kind: 'Box',
      issuer: 'i',
      inClusterTokenUrl: 'u',
      database: 'eu',
      clients: 1,
      policies: 2,
      users: undefined,
      admin: undefined,
    });
  });

  it('lists what a policy links by what is there, each once, and names five of what is missing', () => {
    const clients = Array.from({ length: 7 }, (_, nth) => `c${String(nth)}`);
    const of = resultOf(allowPolicy('p', 'app', 'app', ...clients), {
      dangling: clients.map((id) => `Client/${id}`),
    });
    const { columns, conditions } = publishedStatus(of);
    expect(columns).to.deep.include({ resolvedLinks: ['Client/app'], danglingLinks: of.dangling });
    expect(conditions.find(({ type }) => type === 'LinksResolved')?.message).to.contain(
      'Client/c0, Client/c1, Client/c2, Client/c3, Client/c4 and 2 more',
    );
  });
});
