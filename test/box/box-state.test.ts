import { expect } from 'chai';
import { Outage } from '../../api/db/core/outage.ts';
import { createBoxState } from '../../api/box/box-state.ts';
import type { MovingBoxState } from '../../api/box/box-state.ts';
import { changes, clientRow, keyRow, sampleSealing } from './sample-changes.ts';

describe('the state of a box', () => {
  let unusable: string[];
  let state: MovingBoxState;

  beforeEach(() => {
    unusable = [];
    state = createBoxState(
      'default',
      sampleSealing,
      (kind, id, reason) => void unusable.push(`${kind} ${id}: ${reason}`),
    );
  });

  it('is empty at version 0, with the settings of a box that nobody declared', () => {
    expect(state).to.deep.include({ version: 0, sessionsFrom: 0, settings: { resourceType: 'Box', id: 'default' } });
    expect(state.clients.size).to.equal(0);
    expect(state.keys.all).to.deep.equal([]);
  });

  it('takes a client in with its secrets and the version since which its sessions count', () => {
    state.take(
      changes(3, { changed: [clientRow('a', { secrets: ['$sha256$x'], sessionsFrom: 2, revokedBefore: 9 })] }),
    );
    expect(state.version).to.equal(3);
    expect(state.clients.get('a')).to.deep.include({ secrets: ['$sha256$x'], sessionsFrom: 2, revokedBefore: 9 });
  });

  it('takes what moved of the box itself', () => {
    state.take(changes(3, { sessionsFrom: 3, revokedBefore: 7 }));
    expect(state).to.deep.include({ sessionsFrom: 3, revokedBefore: 7 });
  });

  it('forgets what was deleted, of each kind', () => {
    const settings = { resourceType: 'Box', id: 'default', active: false };
    const policy = { resourceType: 'AccessPolicy', id: 'p', engine: 'allow', subjects: 'anyone' };
    state.take(
      changes(2, {
        changed: [
          clientRow('a'),
          clientRow('default', { kind: 'Box', body: settings }),
          clientRow('p', { kind: 'AccessPolicy', body: policy }),
        ],
      }),
    );
    expect(state.settings.active).to.equal(false);
    expect([...state.policies.candidates({})]).to.have.length(1);
    const deleted = [
      { kind: 'Client', id: 'a' },
      { kind: 'Box', id: 'default' },
      { kind: 'AccessPolicy', id: 'p' },
    ];
    state.take(changes(3, { deleted }));
    expect(state.clients.has('a')).to.equal(false);
    expect(state.settings.active).to.equal(undefined);
    expect([...state.policies.candidates({})]).to.have.length(0);
  });

  it('ignores news that are older than what it has', () => {
    state.take(changes(5, { changed: [clientRow('a')] }));
    state.take(changes(4, { deleted: [{ kind: 'Client', id: 'a' }] }));
    state.take(changes(5, { deleted: [{ kind: 'Client', id: 'a' }] }));
    expect(state.version).to.equal(5);
    expect(state.clients.has('a')).to.equal(true);
  });

  it('holds no client whose row cannot be used, and says why: it gets no token', () => {
    state.take(changes(2, { changed: [clientRow('a')] }));
    const body = { resourceType: 'Client', id: 'a', grant_types: ['no such grant'] };
    state.take(changes(3, { changed: [clientRow('a', { body })] }));
    expect(state.clients.has('a')).to.equal(false);
    expect(unusable).to.have.length(1);
    expect(unusable[0]).to.match(/^Client a: grant_types/);
  });

  it('R-55: ignores fields of a Client and a Box that a newer release has stored, and refuses a policy with one', () => {
    const box = { resourceType: 'Box', id: 'default', active: false, sign_in: { title: 'Shop', later: 1 }, next: {} };
    const app = {
      ...{ resourceType: 'Client', id: 'a', grant_types: ['client_credentials'] },
      next: 1,
      auth: { client_credentials: { token_format: 'jwt', later: 1 } },
    };
    const policy = { resourceType: 'AccessPolicy', id: 'p', engine: 'allow', subjects: 'anyone', only_on: 'weekdays' };
    state.take(
      changes(2, {
        changed: [
          clientRow('a', { body: app }),
          clientRow('default', { kind: 'Box', body: box }),
          clientRow('p', { kind: 'AccessPolicy', body: policy }),
        ],
      }),
    );
    expect(state.clients.get('a')?.client.auth).to.deep.equal({ client_credentials: { token_format: 'jwt' } });
    expect(state.settings).to.deep.include({ active: false, sign_in: { title: 'Shop' } });
    expect([...state.policies.candidates({})]).to.have.length(0);
    expect(unusable).to.deep.equal(['AccessPolicy p: only_on is not a known field']);
  });

  it('R-55: takes nothing of a change whose Box cannot be read: the defaults are not what was declared', () => {
    state.take(changes(2, { changed: [clientRow('a')] }));
    const body = { resourceType: 'Box', id: 'default', active: 'from-noon' };
    const broken = changes(3, { changed: [clientRow('default', { kind: 'Box', body })] });
    expect(() => {
      state.take(broken);
    }).to.throw(Outage);
    expect(state.version).to.equal(2);
    expect(unusable[0]).to.match(/^Box default: active must be true or false/);
  });

  it('takes nothing at all of a change with a broken key', () => {
    state.take(changes(2, { changed: [clientRow('a')], keys: [keyRow('k')] }));
    const broken = changes(3, { deleted: [{ kind: 'Client', id: 'a' }], keys: [keyRow('k', { publicJwk: null })] });
    expect(() => {
      state.take(broken);
    }).to.throw(TypeError);
    expect(state.version).to.equal(2);
    expect(state.clients.has('a')).to.equal(true);
    expect(state.keys.find('k')).not.to.equal(undefined);
  });
});
