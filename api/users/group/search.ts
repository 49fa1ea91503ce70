import { groupListing } from '../../db/user/group-search.ts';
import { readDates } from '../../resources/search/dates.ts';
import { searchable } from '../../resources/search/searchable.ts';
import { readNumber } from '../../resources/search/values.ts';
import { groupElements } from './view.ts';

/** The search for groups. */
export const groupSearch = searchable(groupListing, {
  elements: new Set(groupElements),
  sort: 'id',
  filters: {
    id: (text, parameter) => ({ id: readNumber(parameter, text, 1, Number.MAX_SAFE_INTEGER) }),
    name: (text) => ({ name: text }),
  },
  ranges: { created_at: (texts, parameter) => ({ createdAt: readDates(parameter, texts) }) },
});
