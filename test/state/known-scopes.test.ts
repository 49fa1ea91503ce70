import { expect } from 'chai';
import { createBoxState } from '../../api/state/box-state.ts';
import { requestableScopes } from '../../api/state/requestable-scopes.ts';
import type { ConfigChanges, ResourceRow } from '../../api/db/box/config-changes.ts';
import { changes, clientRow, sampleSealing } from './sample-changes.ts';

const scoped = (id: string, scope: string[]): ResourceRow =>
  clientRow(id, { body: { resourceType: 'Client', id, grant_types: ['client_credentials'], scope } });
const sentences = { 'orders.read': { en: 'see your orders' }, toString: { en: 'build' } };
const settings = (fields: object): ResourceRow =>
  clientRow('default', { kind: 'Box', body: { resourceType: 'Box', id: 'default', ...fields } });
const gone = (kind: 'Client' | 'Box', id: string): Partial<ConfigChanges> => ({ deleted: [{ kind, id }] });

describe('the scopes that a box knows', () => {
  const names = ['read', 'write', 'orders.read', 'toString', 'valueOf'];
  const rows: Readonly<Record<string, readonly [steps: readonly Partial<ConfigChanges>[], known: readonly string[]]>> =
    {
      'of an empty box are none of its own': [[], []],
      'are those that its clients list': [
        [{ changed: [scoped('a', ['read']), scoped('b', ['write'])] }],
        ['read', 'write'],
      ],
      'are those that its Box declares': [
        [{ changed: [settings({ scopes: sentences })] }],
        ['orders.read', 'toString'],
      ],
      'change with a client': [
        [{ changed: [scoped('a', ['read'])] }, { changed: [scoped('a', ['write'])] }],
        ['write'],
      ],
      'remain while one of two clients lists them': [
        [{ changed: [scoped('a', ['read']), scoped('b', ['read'])] }, gone('Client', 'a')],
        ['read'],
      ],
      'go with the last client that lists them': [[{ changed: [scoped('a', ['read'])] }, gone('Client', 'a')], []],
      'go with a client whose row cannot be used': [
        [
          { changed: [scoped('a', ['read'])] },
          { changed: [clientRow('a', { body: { resourceType: 'Client', id: 'a' } })] },
        ],
        [],
      ],
      'change with the Box': [
        [
          { changed: [settings({ scopes: sentences })] },
          { changed: [settings({ scopes: { write: { en: 'write' } } })] },
        ],
        ['write'],
      ],
      'go with the Box': [[{ changed: [settings({ scopes: sentences })] }, gone('Box', 'default')], []],
      'remain those of a client when the Box no longer declares them': [
        [{ changed: [settings({ scopes: sentences }), scoped('a', ['orders.read'])] }, { changed: [settings({})] }],
        ['orders.read'],
      ],
    };
  for (const [title, [steps, known]] of Object.entries(rows)) {
    it(title, () => {
      const state = createBoxState('default', sampleSealing, () => undefined);
      steps.forEach((step, index) => {
        state.take(changes(index + 1, step));
      });
      expect(names.filter((scope) => state.knownScopes.has(scope))).to.deep.equal(known);
    });
  }

  it('are always those that a client without a list may request, and groups', () => {
    const { knownScopes } = createBoxState('default', sampleSealing, () => undefined);
    for (const scope of [...requestableScopes({}, true).user, 'groups'])
      expect(knownScopes.has(scope), scope).to.equal(true);
  });
});
