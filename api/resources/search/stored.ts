import { ENGINES, SUBJECTS } from '../../../crds/access-policy.ts';
import { GRANT_TYPES } from '../../../crds/client.ts';
import { LINK_TYPES } from '../../../crds/links.ts';
import { countResources, searchResources } from '../../db/resource/search.ts';
import type { ResourceFilters } from '../../db/resource/search.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { inBox } from '../../db/core/transaction.ts';
import { readDates } from './dates.ts';
import type { SearchDefinition, SearchRequest } from './parameters.ts';
import { search } from './search.ts';
import type { SearchResult } from './search.ts';
import { readWord, refusedParameter } from './values.ts';
import type { ResourceServices, StoredKind } from '../services.ts';
import { storedElements } from '../write/stored-view.ts';

/** Form of an id in a cursor; a sort key is compared, never run. */
const id = /^[\w.~-]{1,128}$/;
const createdAt = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::?\d\d)?$/;

const common = {
  sorts: { id: [id], created_at: [createdAt, id] },
  sort: 'id',
  ranges: { created_at: (texts: readonly string[], name: string) => ({ createdAt: readDates(name, texts) }) },
} as const;

/** Search parameters by kind. */
export const storedSearches: Readonly<Record<StoredKind, SearchDefinition<ResourceFilters>>> = {
  Client: {
    ...common,
    elements: storedElements.Client,
    filters: {
      id: (text) => ({ id: text }),
      name: (text) => ({ name: text }),
      active: (text, name) => ({ active: readWord(name, text, ['true', 'false']) === 'true' }),
      grant_types: (text, name) => ({ grantType: readWord(name, text, GRANT_TYPES) }),
    },
  },
  AccessPolicy: {
    ...common,
    elements: storedElements.AccessPolicy,
    filters: {
      id: (text) => ({ id: text }),
      engine: (text, name) => ({ engine: readWord(name, text, ENGINES) }),
      subjects: (text, name) => ({ subjects: readWord(name, text, SUBJECTS) }),
      link: (text, name) => ({ link: readLink(text, name) }),
    },
  },
};

function readLink(text: string, name: string): ResourceFilters['link'] {
  const slash = text.indexOf('/');
  const resourceType = LINK_TYPES.find((type) => type === text.slice(0, slash));
  if (resourceType === undefined)
    throw refusedParameter(name, `must be one of ${LINK_TYPES.join(', ')}, a slash and an id`);
  return { resourceType, id: text.slice(slash + 1) };
}

/** Searches among the resources of a kind. Throws Problem `bad-request`, and Outage. */
export function searchStored(
  services: Pick<ResourceServices, 'pool'>,
  box: string,
  kind: StoredKind,
  request: SearchRequest<ResourceFilters>,
): Promise<SearchResult<StoredResource>> {
  const what = { box, kind, filters: request.filters };
  const sort = request.sort.field === 'created_at' ? 'created_at' : 'id';
  return inBox(services.pool, box, 'snapshot', (connection) =>
    search(request, {
      count: (most) => countResources(connection, what, most),
      read: (span) => searchResources(connection, what, sort, span),
      keyOf: (row) => (sort === 'id' ? [row.id] : [row.createdAt, row.id]),
    }),
  );
}
