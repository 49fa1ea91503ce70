import { readGrant } from '../../db/user/grant.ts';
import type { GrantFilters, GrantKey, StoredGrant } from '../../db/user/grant.ts';
import { grantVersion, removeGrant } from '../../users/grant/grant-removal.ts';
import { grantSearch } from '../../users/grant/search.ts';
import { grantKey, grantView } from '../../users/grant/view.ts';
import type { Collection } from './collection.ts';
import { possibleId } from './id-in-path.ts';

/** The collection of grants: what users have allowed clients. Consent creates and changes them. */
export const grantCollection: Collection<'Grant', StoredGrant, GrantFilters, GrantKey> = {
  kind: 'Grant',
  path: '/Grant',
  absent: 'There is no Grant with this id',
  search: grantSearch,
  view: grantView,
  version: grantVersion,
  idOf: (text) => (possibleId('Grant', text) === undefined ? undefined : grantKey(text)),
  read: readGrant,
  remove: removeGrant,
};
