import { userListing } from '../../db/user/user-search.ts';
import { searchable } from '../../records/search/searchable.ts';
import { readNumber, readWord } from '../../records/search/values.ts';
import { emailKey, folded } from './email.ts';
import { userElements } from './view.ts';

const statuses = ['active', 'inactive'] as const;

/** The search for users: by id, or by email where `q` gives the beginning of one. */
export const userSearch = searchable(userListing, {
  controls: ['_count', '_page', '_total'],
  elements: new Set(userElements),
  sort: (query) => (query.has('q') ? 'email' : 'id'),
  filters: {
    // What is no email is nobody's.
    email: (text) => ({ emailKey: emailKey(text) ?? '' }),
    q: (text) => ({ emailBeginning: folded(text) }),
    'group-id': (text, name) => ({ group: readNumber(name, text, 1, Number.MAX_SAFE_INTEGER) }),
    status: (text, name) => ({ status: readWord(name, text, statuses) }),
  },
  ranges: {},
});
