import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { eventually } from '../../support/eventually.ts';
import type { ApiWorld } from './api-world.ts';
import type { ClusterBox } from './cluster-box.ts';

/** The cluster, the API and the operator of a story. */
export interface OperatorWorld {
  readonly cluster: ClusterBox;
  readonly api: ApiWorld;
  /** Ends the operator that leads; another one takes its place. */
  killLeader(): void;
}

/**
 * A sequence of an admin's changes to the cluster. The resulting writes of the operator and the API are the crash
 * points.
 */
export interface OperatorStory {
  /** Creates the initial state; its writes are not crash points. */
  readonly before?: (world: OperatorWorld) => Promise<void>;
  readonly play: (world: OperatorWorld) => Promise<void>;
}

const secret = generateClientSecret();
const machine = { grant_types: ['client_credentials'] } as const;
const inline = { ...machine, secret } as const;

function allow(...ids: readonly string[]): object {
  return { engine: 'allow', link: ids.map((id) => ({ resourceType: 'Client', id })) };
}

async function token({ api, cluster }: OperatorWorld, id: string, of?: string): Promise<string> {
  const found = of ?? (await cluster.secret(id))?.['client_secret'] ?? secret;
  return String((await api.issue({ id, secret: found }))['access_token']);
}

/** A client with a policy and one without, each with a token. */
async function shop(world: OperatorWorld): Promise<void> {
  const { cluster, api } = world;
  await cluster.put('Client', 'stranger', inline);
  await cluster.put('AccessPolicy', 'worker', allow('worker'));
  await cluster.put('Client', 'worker', inline);
  for (const name of ['worker', 'stranger']) await cluster.ready('Client', name);
  await cluster.ready('AccessPolicy', 'worker');
  await api.expect(await token(world, 'worker'), 200, 'a policy allows everything');
  const strangers = await token(world, 'stranger');
  api.strangers.push(strangers);
  await api.expect(strangers, 403, 'no policy allows anything');
}

async function generated(cluster: ClusterBox): Promise<string> {
  return (await cluster.secret('worker'))?.['client_secret'] ?? '';
}

async function statusOf({ api }: OperatorWorld, of: string): Promise<number> {
  const form = { grant_type: 'client_credentials' };
  return (await api.ask('POST', '/auth/token', { by: { id: 'worker', secret: of }, form })).status;
}

function accepted(world: OperatorWorld, of: string): Promise<void> {
  return eventually('the secret is accepted', async () => (await statusOf(world, of)) === 200, patience);
}

/** Generous: a process is ended, and its successor has to start. */
const patience = 60_000;

/** Named as they are told. */
export const operatorStories: Readonly<Record<string, OperatorStory>> = {
  'a client and its policy are declared': {
    play: shop,
  },
  'a client gets a generated secret, and its Secret is deleted by hand': {
    async play(world) {
      const { cluster, api } = world;
      await cluster.put('Client', 'worker', machine);
      await cluster.put('AccessPolicy', 'worker', allow('worker'));
      await cluster.ready('Client', 'worker');
      await cluster.ready('AccessPolicy', 'worker');
      const first = await generated(cluster);
      await api.expect(await token(world, 'worker', first), 200, 'was issued for a generated secret');
      await cluster.removeSecret('worker');
      await eventually('there is a Secret again', async () => (await generated(cluster)) !== '', patience);
      await accepted(world, await generated(cluster));
    },
  },
  'the Secret changes that a client refers to': {
    async before(world) {
      const { cluster } = world;
      await cluster.putSecret('given', { password: secret });
      await cluster.put('AccessPolicy', 'worker', allow('worker'));
      await cluster.put('Client', 'worker', { ...machine, secretRef: { name: 'given', key: 'password' } });
      await cluster.ready('Client', 'worker');
      await cluster.ready('AccessPolicy', 'worker');
    },
    async play(world) {
      const { cluster, api } = world;
      await api.expect(await token(world, 'worker', secret), 200, 'was issued for the first secret');
      const next = generateClientSecret();
      await cluster.putSecret('given', { password: next });
      await accepted(world, next);
      await eventually('the first secret is refused', async () => (await statusOf(world, secret)) === 401, patience);
      await api.expect(await token(world, 'worker', next), 200, 'was issued for the next secret');
    },
  },
  'a generated secret rotates': {
    async before({ cluster }) {
      await cluster.put('Client', 'worker', machine);
      await cluster.put('AccessPolicy', 'worker', allow('worker'));
      await cluster.ready('Client', 'worker');
      await cluster.ready('AccessPolicy', 'worker');
    },
    async play(world) {
      const { cluster, api } = world;
      const first = await generated(cluster);
      const at = new Date().toISOString();
      await cluster.put('Client', 'worker', { ...machine, rotation: { overlap: '1h', at } });
      await eventually('the secret is another', async () => ![first, ''].includes(await generated(cluster)), patience);
      await cluster.ready('Client', 'worker');
      for (const one of [first, await generated(cluster)]) {
        await api.expect(await token(world, 'worker', one), 200, 'was issued for one of two secrets');
      }
    },
  },
  'a client is deleted, and one is created again under its name': {
    before: shop,
    async play(world) {
      const { cluster, api } = world;
      const { token: old = '' } = api.expected.shift() ?? {};
      await cluster.remove('Client', 'worker');
      await cluster.gone('Client', 'worker');
      await api.expect(old, 401, 'was of a deleted client');
      await cluster.put('Client', 'worker', inline);
      await cluster.ready('Client', 'worker');
      await api.expect(old, 401, 'was of an earlier client of the name');
      await api.expect(await token(world, 'worker'), 200, 'is of the new client');
    },
  },
  'a client that is to be retained is deleted, and adopted again': {
    async before(world) {
      await shop(world);
      await world.cluster.put('Client', 'worker', { ...inline, deletionPolicy: 'Retain', adoption: 'IfUnowned' });
      await world.cluster.ready('Client', 'worker');
    },
    async play(world) {
      const { cluster, api } = world;
      await cluster.remove('Client', 'worker');
      await cluster.gone('Client', 'worker');
      const { token: old = '' } = api.expected.shift() ?? {};
      await api.expect(old, 200, 'is of a retained client');
      await cluster.put('Client', 'worker', { ...inline, adoption: 'IfUnowned' });
      await cluster.ready('Client', 'worker');
      await api.expect(old, 401, 'was of the client before its adoption');
      await api.expect(await token(world, 'worker'), 200, 'is of the adopted client');
    },
  },
  'several objects of a namespace come and change at once': {
    async play(world) {
      const { cluster, api } = world;
      const names = ['one', 'two', 'three'];
      await cluster.put('Box', 'box', { tokens: { default_access_token_expiration: 3600 } });
      await Promise.all(names.map((name) => cluster.put('Client', name, inline)));
      await cluster.put('AccessPolicy', 'all', allow(...names, 'nobody'));
      for (const name of names) await cluster.ready('Client', name);
      await Promise.all([
        cluster.put('Client', 'one', { ...inline, active: false }),
        cluster.put('AccessPolicy', 'all', allow('two')),
        cluster.remove('Client', 'three'),
      ]);
      await cluster.gone('Client', 'three');
      await cluster.ready('AccessPolicy', 'all');
      await cluster.ready('Box', 'box');
      await api.expect(await token(world, 'two'), 200, 'a policy allows everything');
    },
  },
  'the leader is killed, and another operator takes over': {
    before: shop,
    async play(world) {
      const { cluster, api } = world;
      world.killLeader();
      await cluster.put('Client', 'late', inline);
      await cluster.put('AccessPolicy', 'worker', allow('worker', 'late'));
      await cluster.ready('Client', 'late');
      await cluster.ready('AccessPolicy', 'worker');
      await api.expect(await token(world, 'late'), 200, 'a policy allows everything');
    },
  },
};
