import { readGroup } from '../../db/user/group.ts';
import type { StoredGroup } from '../../db/user/group.ts';
import type { GroupFilters } from '../../db/user/group-search.ts';
import type { ResourceServices } from '../../resources/services.ts';
import type { WriteConditions } from '../../resources/write/confirm-changes.ts';
import { changeGroup, createGroup, removeGroup } from '../../users/group/change.ts';
import { groupSearch } from '../../users/group/search.ts';
import { groupView } from '../../users/group/view.ts';
import { documentIn } from '../formats/submitted-body.ts';
import type { Collection } from './collection.ts';
import { wishOf } from './group-wish.ts';
import { idIn, possibleId } from './id-in-path.ts';
import type { ResourceExchange } from './resource-exchange.ts';

/** The collection of groups of users. */
export const groupCollection: Collection<'Group', StoredGroup, GroupFilters, number> = {
  kind: 'Group',
  path: '/Group',
  absent: 'There is no Group with this id',
  search: groupSearch,
  view: groupView,
  version: ({ version }) => version,
  owner: ({ owner }) => owner,
  idOf: groupIdOf,
  read: readGroup,
  create: (services, exchange) => createGroup(services, exchange.box, documentIn(exchange)),
  put: change,
  patch: change,
  remove: removeGroup,
};

function groupIdOf(text: string): number | undefined {
  const id = possibleId('Group', text);
  return id === undefined ? undefined : Number(id);
}

async function change(
  services: ResourceServices,
  exchange: ResourceExchange,
  conditions: WriteConditions,
): Promise<{ readonly row: StoredGroup } | undefined> {
  const wish = wishOf(exchange);
  const id = groupIdOf(idIn(exchange));
  const row = id === undefined ? undefined : await changeGroup(services, exchange.box, { id, wish, ...conditions });
  return row && { row };
}
