import { hash } from 'node:crypto';
import type { Client } from '../../../crds/client.ts';
import { builtInName } from '../../../crds/reserved-ids.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import type { ResourceFilters } from '../../db/resource/search.ts';
import { builtInClient } from '../../oauth/built-in-clients.ts';
import { Problem } from '../../problem.ts';
import { storedView } from '../../resources/write/stored-view.ts';
import type { Collection } from './collection.ts';
import { idIn } from './id-in-path.ts';
import type { ResourceExchange } from './resource-exchange.ts';
import { storedCollection } from './stored-collection.ts';

/** A stored client, or a built-in one, which has no row. */
type ShownClient = StoredResource | Client;

const { listed: _shownAsAlone, kind: _kind, ...stored } = storedCollection('Client');

/**
 * The collection of clients. A built-in client can be read alone and cannot be changed; lists and searches have the
 * stored clients only.
 */
export const clientCollection: Collection<'Client', ShownClient, ResourceFilters, string> = {
  ...stored,
  kind: 'Client',
  owner: (client) => (isBuiltIn(client) ? undefined : client.owner),
  view: (client) => (isBuiltIn(client) ? { ...client } : storedView(client)),
  version: (client) => (isBuiltIn(client) ? hash('sha256', JSON.stringify(client), 'base64url') : client.version),
  builtIn,
  patch: async (services, exchange, conditions) => {
    const changed = await stored.patch?.(services, exchange, conditions);
    if (changed === undefined) refuseBuiltIn(idIn(exchange));
    return changed;
  },
  remove: async (services, box, id, preconditions) => {
    const removed = await stored.remove?.(services, box, id, preconditions);
    if (removed === undefined) refuseBuiltIn(id);
    return removed;
  },
};

function isBuiltIn(client: ShownClient): client is Client {
  return 'resourceType' in client;
}

function builtIn(id: string, { settings, baseUrl }: ResourceExchange): Client | undefined {
  const name = builtInName(id);
  return name && builtInClient(name, settings, baseUrl);
}

function refuseBuiltIn(id: string): void {
  if (builtInName(id) === undefined) return;
  throw new Problem('conflict', [
    { path: 'id', message: `${id} is a built-in client: it cannot be changed or deleted` },
  ]);
}
