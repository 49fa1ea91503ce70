import { grantListing } from '../../db/user/grant.ts';
import { readDates } from '../../resources/search/dates.ts';
import { searchable } from '../../resources/search/searchable.ts';
import { clientIdIn, readUserId } from '../../resources/search/values.ts';
import { grantElements } from './view.ts';

/** The search for grants: the id of a user or client may be written as in a link. */
export const grantSearch = searchable(grantListing, {
  elements: new Set(grantElements),
  sort: 'id',
  filters: {
    user: (text, name) => ({ user: readUserId(name, text) }),
    client: (text) => ({ client: clientIdIn(text) }),
  },
  ranges: { created_at: (texts, name) => ({ createdAt: readDates(name, texts) }) },
});
