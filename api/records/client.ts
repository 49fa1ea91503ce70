import { hash } from 'node:crypto';
import { GRANT_TYPES } from '../../crds/client.ts';
import type { Client } from '../../crds/client.ts';
import { builtInName } from '../../crds/reserved-ids.ts';
import type { ResourceFilters } from '../db/resource/search.ts';
import { builtInClient } from '../oauth/built-in-clients.ts';
import { Problem } from '../problem.ts';
import { readWord } from './search/values.ts';
import type { RecordKind } from './record.ts';
import { defineStored } from './stored.ts';
import type { StoredRow } from './write/stored-view.ts';

/** A stored client, or a built-in one, which has no row. */
type ShownClient = StoredRow | Client;

const { changedFields, change, remove, ...stored } = defineStored('Client', {
  id: (text) => ({ id: text }),
  name: (text) => ({ name: text }),
  active: (text, name) => ({ active: readWord(name, text, ['true', 'false']) === 'true' }),
  grant_types: (text, name) => ({ grantType: readWord(name, text, GRANT_TYPES) }),
});

/** Clients. A built-in client can be read alone and cannot be changed; lists and searches have the stored ones only. */
export const client: RecordKind<'Client', ShownClient, ResourceFilters, string> = {
  ...stored,
  view: (shown, ...context) => (isBuiltIn(shown) ? { ...shown } : stored.view(shown, ...context)),
  version: (shown) => (isBuiltIn(shown) ? hash('sha256', JSON.stringify(shown), 'base64url') : stored.version(shown)),
  owner: (shown) => (isBuiltIn(shown) ? undefined : shown.owner),
  builtIn: (id, { settings, baseUrl }) => {
    const name = builtInName(id);
    return name && builtInClient(name, settings, baseUrl);
  },
  change: async (services, box, requested) => {
    const changed = await change?.(services, box, requested);
    if (changed === undefined) refuseBuiltIn(requested.id);
    return changed;
  },
  changedFields: (row, requested, id) =>
    changedFields?.(row === undefined || isBuiltIn(row) ? undefined : row, requested, id) ?? [],
  remove: async (services, box, id, preconditions) => {
    const removed = await remove?.(services, box, id, preconditions);
    if (removed === undefined) refuseBuiltIn(id);
    return removed;
  },
};

function isBuiltIn(shown: ShownClient): shown is Client {
  return 'resourceType' in shown;
}

function refuseBuiltIn(id: string): void {
  if (builtInName(id) === undefined) return;
  throw new Problem('conflict', [
    { path: 'id', message: `${id} is a built-in client: it cannot be changed or deleted` },
  ]);
}
