import { expect } from 'chai';
import type { DeclareLine, DeleteLine } from '../../../api/client/desired-state.ts';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import type { AccessPolicy } from '../../../crds/access-policy.ts';
import type { Client } from '../../../crds/client.ts';
import { rowIdOf } from '../../../crds/validate.ts';
import { digestOf, type ApiWorld, type Credentials } from './api-world.ts';

/** A sequence of requests to the API; its writes are the crash points. */
export interface ApiStory {
  /** Creates the initial state; its writes are not crash points. */
  readonly before?: (world: ApiWorld) => Promise<unknown>;
  readonly play: (world: ApiWorld) => Promise<void>;
}

const secret = generateClientSecret();
const worker: Credentials = { id: 'worker', secret };
const admin: Credentials = { id: 'admin', secret };
const stranger: Credentials = { id: 'stranger', secret };

function client(id: string, over: Partial<Client> & { readonly secret?: string | null } = {}): DeclareLine['resource'] {
  return { resourceType: 'Client', id, secret, grant_types: ['client_credentials'], ...over };
}

function allow(...ids: readonly string[]): AccessPolicy {
  const link = ids.map((id) => ({ resourceType: 'Client', id }) as const);
  return { resourceType: 'AccessPolicy', id: ids.join('-'), engine: 'allow', link };
}

type Words = Partial<Pick<DeclareLine, 'adopt' | 'retain' | 'previous' | 'purge'>> & { readonly uid?: string };

function declare(
  { box }: ApiWorld,
  resource: DeclareLine['resource'],
  { uid = 'first', ...words }: Words = {},
): DeclareLine {
  const kind = resource.resourceType;
  const id = rowIdOf(resource);
  return {
    kind,
    id,
    owner: { name: `${box}/${id}`, uid: `${uid}-${id}` },
    digest: digestOf([resource, words]),
    ...words,
    resource,
  };
}

function remove({ box }: ApiWorld, kind: 'Client' | 'AccessPolicy', id: string, uid = 'first'): DeleteLine {
  return { kind, id, owner: { name: `${box}/${id}`, uid: `${uid}-${id}` }, delete: true };
}

const refreshing = { client_credentials: { refresh_token: true } } as const;
const rotating = { client_credentials: { refresh_token: true, refresh_rotation: true } } as const;

/** A client with a policy and one without, each with a token. */
async function clients(world: ApiWorld, auth: Client['auth'] = refreshing): Promise<void> {
  await world.apply(
    declare(world, client('worker', { auth })),
    declare(world, client('stranger')),
    declare(world, allow('worker')),
  );
  await world.expect((await world.issue(worker))['access_token'], 200, 'was issued');
  await world.expect(await strangersToken(world), 403, 'no policy allows anything');
}

/** The token of the worker that is there, which is worth something else from now on. */
function takeFirst(world: ApiWorld): string {
  return world.expected.shift()?.token ?? 'none';
}

async function strangersToken(world: ApiWorld): Promise<string> {
  const token = String((await world.issue(stranger))['access_token']);
  world.strangers.push(token);
  return token;
}

async function refused(world: ApiWorld, by: Credentials): Promise<void> {
  const { status } = await world.ask('POST', '/auth/token', { by, form: { grant_type: 'client_credentials' } });
  expect(status, `a token for ${by.id}`).to.equal(401);
}

/** A call of another namespace: it is refused, and so is everything in the box. */
async function locked(world: ApiWorld): Promise<void> {
  const call = world.apply(declare(world, client('worker', { auth: refreshing })));
  expect(String(await call.catch((error: unknown) => error)), 'a call of another namespace').to.match(/is bound to/);
}

function refresh(world: ApiWorld, refresh_token: string) {
  return world.ask('POST', '/auth/token', { by: worker, form: { grant_type: 'refresh_token', refresh_token } });
}

/** Named as they are told. */
export const apiStories: Readonly<Record<string, ApiStory>> = {
  'a client and its policy are declared': {
    async play(world) {
      await clients(world);
    },
  },
  'the secret of a client changes': {
    before: clients,
    async play(world) {
      const next = { id: 'worker', secret: generateClientSecret() };
      await world.apply(declare(world, client('worker', { auth: refreshing, secret: next.secret })));
      await refused(world, worker);
      await world.expect((await world.issue(next))['access_token'], 200, 'was issued for the new secret');
    },
  },
  'a client has two secrets, and then one': {
    before: clients,
    async play(world) {
      const next = { id: 'worker', secret: generateClientSecret() };
      const changed = client('worker', { auth: refreshing, secret: next.secret });
      const until = new Date(Date.now() + 3_600_000).toISOString();
      await world.apply(declare(world, changed, { previous: { secret, until } }));
      for (const by of [worker, next]) {
        await world.expect((await world.issue(by))['access_token'], 200, 'was issued while there were two secrets');
      }
      await world.apply(declare(world, changed));
      await refused(world, worker);
      await world.expect((await world.issue(next))['access_token'], 200, 'was issued for the new secret');
    },
  },
  'a namespace is created again, and its box is discarded': {
    async before(world) {
      world.namespace = { uid: 'old' };
      await clients(world);
    },
    async play(world) {
      const token = takeFirst(world);
      world.namespace = { uid: 'new' };
      await locked(world);
      await world.expect(token, 401, 'is of a locked box');
      world.namespace = { uid: 'new', discard: 'old' };
      await world.apply(declare(world, client('worker', { auth: refreshing }), { uid: 'second' }));
      await world.expect(token, 401, 'was of a discarded box');
      world.expected.splice(0, 1, { token: world.strangers[0] ?? '', status: 401, why: 'was of a discarded box' });
      await world.apply(declare(world, allow('worker'), { uid: 'second' }));
      await world.expect((await world.issue(worker))['access_token'], 200, 'is of the new box');
    },
  },
  'a namespace is created again, and its box is adopted': {
    async before(world) {
      world.namespace = { uid: 'old' };
      await clients(world);
    },
    async play(world) {
      const token = takeFirst(world);
      world.namespace = { uid: 'new' };
      await locked(world);
      await world.expect(token, 401, 'is of a locked box');
      world.namespace = { uid: 'new', adopt: 'old' };
      await world.apply(declare(world, client('worker', { auth: refreshing })));
      await world.expect(token, 200, 'is of an adopted box');
    },
  },
  'a client is deleted, and one is created again under its name': {
    before: clients,
    async play(world) {
      const token = takeFirst(world);
      const { refresh_token } = await world.issue(worker);
      await world.apply(remove(world, 'Client', 'worker'));
      await world.expect(token, 401, 'was of a deleted client');
      await refused(world, worker);
      await world.apply(declare(world, client('worker', { auth: refreshing }), { uid: 'second' }));
      await world.expect(token, 401, 'was of an earlier client of the name');
      expect((await refresh(world, String(refresh_token))).status, 'its refresh token').to.equal(400);
      await world.expect((await world.issue(worker))['access_token'], 200, 'is of the new client');
    },
  },
  'a client that is to be retained loses its object': {
    async before(world) {
      await clients(world);
      await world.apply(declare(world, client('worker', { auth: refreshing }), { retain: true }));
    },
    async play(world) {
      await world.apply(remove(world, 'Client', 'worker'));
      await world.expect((await world.issue(worker))['access_token'], 200, 'is of a retained client');
    },
  },
  'a retained client is adopted': {
    async before(world) {
      await clients(world);
      await world.apply(declare(world, client('worker', { auth: refreshing }), { retain: true }));
      await world.apply(remove(world, 'Client', 'worker'));
    },
    async play(world) {
      const token = takeFirst(world);
      await world.apply(declare(world, client('worker', { auth: refreshing }), { uid: 'second', adopt: 'unowned' }));
      await world.expect(token, 401, 'was of the client before its adoption');
      await world.expect((await world.issue(worker))['access_token'], 200, 'is of the adopted client');
    },
  },
  'a client is switched off and on': {
    before: clients,
    async play(world) {
      const token = takeFirst(world);
      await world.apply(declare(world, client('worker', { auth: refreshing, active: false })));
      await world.expect(token, 401, 'was of a client that was switched off');
      await world.apply(declare(world, client('worker', { auth: refreshing })));
      await world.expect(token, 401, 'was of a client that was switched off once');
    },
  },
  'the sessions of a client before a time are revoked': {
    before: clients,
    async play(world) {
      const token = takeFirst(world);
      const revoked = { auth: refreshing, revoke_sessions_before: new Date(Date.now() - 1).toISOString() };
      await world.apply(declare(world, client('worker', revoked)));
      await world.expect(token, 401, 'was revoked with all before a time');
      await world.expect((await world.issue(worker))['access_token'], 200, 'was issued after that time');
    },
  },
  'the policy of a client goes and comes': {
    before: clients,
    async play(world) {
      const token = world.expected[0]?.token;
      await world.apply(remove(world, 'AccessPolicy', 'worker'));
      await world.expect(token, 403, 'no policy allows anything any more');
      await world.apply(declare(world, allow('worker'), { uid: 'second' }));
      await world.expect(token, 200, 'a policy allows again');
    },
  },
  'tokens are refreshed, revoked and closed': {
    before: clients,
    async play(world) {
      const family = await world.issue(worker);
      const refreshed = await refresh(world, String(family['refresh_token']));
      expect(refreshed.status, 'a refresh').to.equal(200);
      await world.expect(refreshed.json['access_token'], 200, 'was refreshed');
      const form = { token: String(family['refresh_token']) };
      expect((await world.ask('POST', '/auth/revoke', { by: worker, form })).status, 'a revocation').to.equal(200);
      await world.expect(family['access_token'], 401, 'is of a revoked family');
      await world.expect(refreshed.json['access_token'], 401, 'is of a revoked family');
      const closed = String((await world.issue(worker))['access_token']);
      const again = await world.ask('DELETE', '/Session', { by: closed });
      expect([200, 401], 'closing a session').to.include(again.status);
      await world.expect(closed, 401, 'was closed');
    },
  },
  'sessions without a refresh token are revoked and closed': {
    before: (world) => clients(world, {}),
    async play(world) {
      const issued = async () => String((await world.issue(worker))['access_token']);
      const [revoked, closed, byId, other] = [await issued(), await issued(), await issued(), await issued()];
      const form = { token: revoked };
      expect((await world.ask('POST', '/auth/revoke', { by: worker, form })).status, 'a revocation').to.equal(200);
      await world.expect(revoked, 401, 'was revoked');
      const close = await world.ask('DELETE', '/Session', { by: closed });
      expect([200, 401], 'closing a session').to.include(close.status);
      await world.expect(closed, 401, 'was closed');
      const { json } = await world.ask('POST', '/auth/introspect', { by: worker, form: { token: byId } });
      const end = await world.ask('DELETE', `/Session/${String(json['jti'])}`, { by: other });
      expect([end.status, end.json['status']], 'a revocation by ID').to.deep.equal([200, 'revoked']);
      await world.expect(byId, 401, 'was revoked by its ID');
      await world.expect(other, 200, 'is none of those');
    },
  },
  'refresh tokens rotate': {
    before: (world) => clients(world, rotating),
    async play(world) {
      let next = String((await world.issue(worker))['refresh_token']);
      for (let nth = 0; nth < 2; nth += 1) {
        const { status, json } = await refresh(world, next);
        expect(status, `use ${String(nth)} of a rotating refresh token`).to.equal(200);
        await world.expect(json['access_token'], 200, 'was refreshed');
        next = String(json['refresh_token']);
      }
    },
  },
  'tokens are signed': {
    before: clients,
    async play(world) {
      const auth = { client_credentials: { token_format: 'jwt', access_token_expiration: 3600 } } as const;
      await world.apply(declare(world, client('worker', { auth })));
      await world.expect((await world.issue(worker))['access_token'], 200, 'is signed');
      const signed = await world.issue(worker);
      await world.ask('DELETE', '/Session', { by: String(signed['access_token']) });
      await world.expect(signed['access_token'], 401, 'was signed, and closed');
    },
  },
  'a client is made, changed and deleted over REST': {
    async before(world) {
      await world.apply(declare(world, client('admin')), declare(world, allow('admin')));
      await world.expect((await world.issue(admin))['access_token'], 200, 'of the admin');
    },
    async play(world) {
      const by = world.expected[0]?.token ?? '';
      const json = { ...client('guest'), secret };
      const guest = { id: 'guest', secret };
      expect([200, 201]).to.include((await world.ask('PUT', '/Client/guest', { by, json })).status);
      const token = (await world.issue(guest))['access_token'];
      await world.expect(token, 403, 'no policy allows anything');
      const patch = { name: 'Guest' };
      expect((await world.ask('PATCH', '/Client/guest', { by, json: patch })).status).to.equal(200);
      await world.expect(token, 403, 'is of a client whose name changed');
      expect([200, 204, 404]).to.include((await world.ask('DELETE', '/Client/guest', { by })).status);
      await world.expect(token, 401, 'was of a client deleted over REST');
    },
  },
  'I9: another leader claims the epoch': {
    before: clients,
    async play(world) {
      const old = declare(world, client('late'));
      const { cluster, box } = world;
      const before = await world.claim();
      const after = await world.claim();
      expect(after).to.be.greaterThan(before);
      const head = { cluster, epoch: before, complete: false };
      const late = world.managed((management) =>
        management.apply({ box, head, lines: [old] }, AbortSignal.timeout(10_000)),
      );
      expect(String(await late.catch((error: unknown) => error))).to.match(/has ended/);
      await world.apply(declare(world, client('worker', { auth: refreshing, name: 'of the new leader' })));
    },
  },
};
