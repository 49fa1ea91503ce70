import { setTimeout as sleep } from 'node:timers/promises';
import { clusterConfig, createConnection } from '../../../operator/kube/client/cluster-config.ts';
import { createKubeApi } from '../../../operator/kube/client/kube-api.ts';
import { collectionAt } from '../../support/cluster/collection-at.ts';
import { watch } from '../../../operator/kube/client/watch.ts';
import type { ControlPlane } from '../../support/cluster/control-plane.ts';
import type { Random } from '../../support/random.ts';
import type { Checker, Outcome } from './checker.ts';
import { clientPath, foundClient, listClients, type FoundClient } from './found-client.ts';

/** Looks at statuses all the time. */
export interface Observer {
  /** Count of checks by outcome. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Ends the observation; throws what a check threw. */
  stop(): Promise<void>;
}

/** Checks by chance at once: what checks takes processors from what is checked. */
const strollers = 3;
/** Checks of events at once: each may wait for a replica that was killed, and must ask it as soon as it is back. */
const workers = 24;

/**
 * Watches all Clients and checks each one on the very event that promises something, and in between Clients by chance.
 * A watch that ends (a definition changed) is begun again with a list.
 */
export function startObserver(plane: ControlPlane, checker: Checker, random: Random): Observer {
  const outcomes = { right: 0, idle: 0, moved: 0, wrong: 0 };
  const known = new Map<string, FoundClient>();
  const due = new Map<string, () => Promise<Outcome>>();
  const underWay = new Set<string>();
  const stopping = new AbortController();
  const { signal } = stopping;

  function heard(client: FoundClient): void {
    const key = `${client.box}/${client.name}`;
    const before = known.get(key);
    known.set(key, client);
    if (before?.resourceVersion !== client.resourceVersion) demand(client);
  }

  function demand({ box, name }: FoundClient): void {
    due.set(`${box}/${name}`, () => checker.check(box, name));
  }

  async function follow(): Promise<void> {
    const api = createKubeApi(createConnection(() => clusterConfig({ kubeconfig: plane.kubeconfig })));
    const { clients, version } = await listClients(plane, '');
    for (const client of clients) heard(client);
    const times = { timeoutSeconds: 60, silence: 90_000 };
    for await (const { type, object } of watch(
      api,
      { collection: collectionAt(clientPath('')), resourceVersion: version },
      times,
      signal,
    )) {
      const client = foundClient(object);
      if (client === undefined) continue;
      const key = `${client.box}/${client.name}`;
      if (type !== 'DELETED') heard(client);
      else {
        known.delete(key);
        due.set(`${key} ${client.uid}`, () => checker.checkGone(client));
      }
    }
  }

  async function watching(): Promise<void> {
    while (!signal.aborted) {
      await follow().catch(() => undefined);
      await sleep(20);
    }
  }

  async function work(strolls: boolean): Promise<void> {
    while (!signal.aborted) {
      const next = [...due.keys()].find((key) => !underWay.has(key)) ?? (strolls ? byChance() : undefined);
      if (next === undefined || underWay.has(next)) {
        await sleep(10);
        continue;
      }
      const check = due.get(next);
      due.delete(next);
      underWay.add(next);
      const [box = '', name = ''] = next.split('/');
      try {
        const outcome = await (check ?? (() => checker.check(box, name)))();
        outcomes[outcome] += 1;
        if (outcome === 'moved' && check !== undefined) due.set(next, check);
        if (outcome === 'moved' || check === undefined) await sleep(10);
      } finally {
        underWay.delete(next);
      }
    }
  }

  function byChance(): string | undefined {
    const keys = [...known.keys()];
    return keys[random.below(keys.length)];
  }

  const watched = watching();
  const worked = Promise.all(Array.from({ length: workers + strollers }, (_, nth) => work(nth < strollers)));
  // Whoever stops it hears of it.
  worked.catch(() => undefined);
  return {
    outcomes,
    async stop() {
      stopping.abort(new Error('the observation is over'));
      await watched;
      await worked;
    },
  };
}
