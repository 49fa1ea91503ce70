import { expect } from 'chai';
import { createBoxState } from '../../api/box/box-state.ts';
import { seededRandom } from '../support/random.ts';
import { changes, clientRow, sampleSealing } from './sample-changes.ts';

const origins = ['https://a.example', 'https://b.example', 'https://c.example'];

describe('the origins that the clients of a box list', () => {
  it('are those of its active clients, whatever was changed and deleted in whatever order', () => {
    const random = seededRandom();
    const state = createBoxState('default', sampleSealing, () => undefined);
    for (let version = 1; version <= 500; version += 1) {
      const id = `client-${String(random.below(4))}`;
      if (random.below(4) === 0) {
        state.take(changes(version, { deleted: [{ kind: 'Client', id }] }));
      } else {
        const allowed_origins = origins.filter(() => random.below(2) === 0);
        const body = { resourceType: 'Client', id, grant_types: ['client_credentials'], active: random.below(3) > 0 };
        state.take(changes(version, { changed: [clientRow(id, { body: { ...body, allowed_origins } })] }));
      }
      const active = [...state.clients.values()].filter(({ client }) => client.active !== false);
      const listed = active.flatMap(({ client }) => client.allowed_origins ?? []);
      expect([...state.clientOrigins.keys()].toSorted(), `BOXGATE_SEED=${String(random.seed)}`).to.deep.equal(
        [...new Set(listed)].toSorted(),
      );
    }
  });

  it('are none once a client cannot be read, and while the box is locked', () => {
    const state = createBoxState('default', sampleSealing, () => undefined);
    const body = { resourceType: 'Client', id: 'a', grant_types: ['client_credentials'], allowed_origins: origins };
    state.take(changes(1, { changed: [clientRow('a', { body })] }));
    state.take(changes(2, { locked: true }));
    expect([...state.clientOrigins.keys()]).to.deep.equal([]);
    state.take(changes(3));
    expect([...state.clientOrigins.keys()]).to.have.members(origins);
    state.take(changes(4, { changed: [clientRow('a', { body: { ...body, grant_types: 'none' } })] }));
    expect([...state.clientOrigins.keys()]).to.deep.equal([]);
  });
});
