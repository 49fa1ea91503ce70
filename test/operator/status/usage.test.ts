import { expect } from 'chai';
import { createSecretKey } from 'node:crypto';
import type { BoxUsage } from '../../../api/client/desired-state.ts';
import { ManagementError } from '../../../api/client/management-error.ts';
import { createManagement } from '../../../api/client/management.ts';
import { Secret } from '../../../api/client/secret.ts';
import type { PassContext } from '../../../operator/reconcile/box-pass.ts';
import type { UsageCache } from '../../../operator/reconcile/box-cache.ts';
import { takeUsage } from '../../../operator/status/box-results.ts';
import { memoryKeeper, memorySource } from '../memory-source.ts';
import { recordedEvents } from './recorded-events.ts';

const hour = 3_600_000;
const start = Date.parse('2026-01-01');
const { signal } = new AbortController();

describe('takeUsage', () => {
  let asked: number[];
  let time: number;
  let answer: (after: string) => Promise<BoxUsage>;
  let cache: { usage: UsageCache | undefined };
  let failures: string[];
  beforeEach(() => {
    [asked, time, cache] = [[], start, { usage: undefined }];
    failures = [];
    const policies = [{ id: 'p', last_used_at: '2026-01-01T10:00:00.000Z' }];
    answer = () => Promise.resolve({ clients: [{ id: 'app', live_sessions: 3 }], users: 2, groups: [], policies });
  });

  function context(usagePeriod: number | 'never'): PassContext {
    return {
      source: memorySource(),
      keeper: memoryKeeper(),
      servesServiceAccounts: () => false,
      apiFault: () => undefined,
      isMuchMissing: () => false,
      management: {
        ...createManagement({ url: 'http://127.0.0.1:9', key: new Secret('unused') }),
        usage(_box, _cluster, after) {
          asked.push(time - start);
          return answer(after);
        },
      },
      events: recordedEvents(),
      cluster: 'test',
      epoch: () => Promise.resolve(1),
      digestKey: createSecretKey(Buffer.alloc(32)),
      defaultIssuer: (box) => box,
      now: () => new Date(time),
      random: () => 0.5,
      onProgress: () => undefined,
      onUsageFailure(box, error) {
        failures.push(`${box} at ${String((time - start) / hour)}: ${error.message}`);
      },
      ...(usagePeriod === 'never' ? {} : { usagePeriod }),
    };
  }

  async function sweeps(count: number, usagePeriod: number | 'never' = hour): Promise<void> {
    for (let nth = 0; nth < count; nth += 1, time += hour / 4) {
      await takeUsage({ box: 'box', cache, context: context(usagePeriod), signal });
    }
  }

  it('asks once in a period, however many sweeps there are, and first in the middle of one', async () => {
    await sweeps(13);
    expect(asked).to.deep.equal([0.5, 1.5, 2.5].map((hours) => hours * hour));
    expect(cache.usage?.known?.clients.get('app')).to.deep.equal({ id: 'app', live_sessions: 3 });
    expect(cache.usage?.known?.users).to.equal(2);
    expect(cache.usage?.known?.policies.get('p')).to.equal('2026-01-01T10:00:00.000Z');
  });

  it('asks a large box for a portion at each sweep, and again a period after the last one', async () => {
    const next: Readonly<Record<string, string>> = { '': 'b', b: 'd' };
    answer = (after) => {
      const clients = [{ id: `after-${after}`, live_sessions: asked.length }];
      const more = next[after];
      return Promise.resolve({
        clients,
        users: 0,
        groups: [],
        policies: [],
        ...(more === undefined ? {} : { next: more }),
      });
    };
    await sweeps(4);
    expect([...(cache.usage?.known?.clients.keys() ?? [])]).to.deep.equal(['after-', 'after-b']);
    await sweeps(6);
    expect(asked.map((at) => at / hour)).to.deep.equal([0.5, 0.75, 1, 2, 2.25]);
    const known = cache.usage?.known?.clients;
    expect(
      [known?.get('after-'), known?.get('after-b'), known?.get('after-d')].map((one) => one?.live_sessions),
    ).to.deep.equal([4, 5, 3]);
  });

  it('forgets with the last portion who is not told of any more', async () => {
    const portions: BoxUsage[] = [
      { clients: [{ id: 'gone', live_sessions: 1 }], users: 0, groups: [], policies: [], next: 'gone' },
      { clients: [{ id: 'stays', live_sessions: 1 }], users: 0, groups: [], policies: [] },
      { clients: [], users: 0, groups: [], policies: [], next: 'gone' },
      { clients: [{ id: 'stays', live_sessions: 2 }], users: 0, groups: [], policies: [] },
    ];
    answer = () => Promise.resolve(portions.shift() ?? { clients: [], users: 0, groups: [], policies: [] });
    await sweeps(9);
    expect([...(cache.usage?.known?.clients.values() ?? [])]).to.deep.equal([{ id: 'stays', live_sessions: 2 }]);
  });

  it('goes on with what it knows where the API does not answer, and asks again at the next sweep', async () => {
    await sweeps(3);
    answer = () => Promise.reject(new ManagementError('unavailable', 'away'));
    await sweeps(6);
    expect(asked.map((at) => at / hour)).to.deep.equal([0.5, 1.5, 1.75, 2]);
    expect(cache.usage?.known?.users).to.equal(2);
  });

  it('tells of each failure until it can read again', async () => {
    answer = () => Promise.reject(new ManagementError('unavailable', 'away'));
    await sweeps(4);
    expect(failures).to.deep.equal(['box at 0.5: away', 'box at 0.75: away']);
    answer = () => Promise.resolve({ clients: [], users: 7, groups: [], policies: [] });
    await sweeps(1);
    expect(failures).to.have.length(2);
    expect(cache.usage?.known?.users).to.equal(7);
  });

  it('hides no bug', async () => {
    answer = () => Promise.reject(new RangeError('a bug'));
    const thrown: unknown = await sweeps(3).catch((error: unknown) => error);
    expect(String(thrown)).to.equal('RangeError: a bug');
  });

  it('never asks where nobody wants to know', async () => {
    await sweeps(13, 'never');
    expect(asked).to.deep.equal([]);
  });
});
