import { readResource } from '../../db/resource/resource.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import type { ResourceFilters } from '../../db/resource/search.ts';
import { storedSearches } from '../../resources/search/stored.ts';
import type { StoredKind } from '../../resources/services.ts';
import { deleteResource } from '../../resources/write/delete.ts';
import { patchResource } from '../../resources/write/patch.ts';
import { postResource } from '../../resources/write/post.ts';
import { putResource } from '../../resources/write/put.ts';
import type { Written } from '../../resources/write/store.ts';
import { storedView } from '../../resources/write/stored-view.ts';
import { documentIn, patchIn } from '../formats/submitted-body.ts';
import type { Collection } from './collection.ts';
import { idIn, possibleId } from './id-in-path.ts';

/** Makes the collection of clients or of policies: a PUT creates what is not there. */
export function storedCollection(kind: StoredKind): Collection<StoredKind, StoredResource, ResourceFilters, string> {
  return {
    kind,
    path: `/${kind}`,
    absent: `There is no ${kind} with this id`,
    search: storedSearches[kind],
    view: storedView,
    version: ({ version }) => version,
    owner: ({ owner }) => owner,
    idOf: (text) => possibleId(kind, text),
    read: (connection, box, id) => readResource(connection, box, { kind, id }),
    create: async (services, exchange) =>
      (await postResource(services, exchange.box, kind, documentIn(exchange))).stored,
    put: async (services, exchange, conditions) => {
      const document = documentIn(exchange);
      return changedBy(
        await putResource(services, { box: exchange.box, kind, id: idIn(exchange) }, document, conditions),
      );
    },
    patch: async (services, exchange, conditions) => {
      const patch = patchIn(exchange);
      const id = possibleId(kind, idIn(exchange));
      if (id === undefined) return undefined;
      const written = await patchResource(services, { box: exchange.box, kind, id }, patch, conditions);
      return written && changedBy(written);
    },
    remove: (services, box, id, preconditions) => deleteResource(services, { box, kind, id }, preconditions),
  };
}

function changedBy({ stored, created }: Written): { readonly row: StoredResource; readonly created: boolean } {
  return { row: stored, created };
}
