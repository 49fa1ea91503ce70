import { ENGINES, SUBJECTS } from '../../../crds/access-policy.ts';
import { GRANT_TYPES } from '../../../crds/client.ts';
import { LINK_TYPES } from '../../../crds/links.ts';
import { resourceListing } from '../../db/resource/search.ts';
import type { ResourceFilters } from '../../db/resource/search.ts';
import type { StoredResource } from '../../db/resource/resource.ts';
import { readDates } from './dates.ts';
import type { SearchDefinition } from './parameters.ts';
import { searchable } from './searchable.ts';
import type { Searchable } from './searchable.ts';
import { readWord, refusedParameter } from './values.ts';
import type { StoredKind } from '../services.ts';
import { storedElements } from '../write/stored-view.ts';

const common = {
  sort: 'id',
  ranges: { created_at: (texts: readonly string[], name: string) => ({ createdAt: readDates(name, texts) }) },
} as const;

/** Search parameters by kind. */
export const storedSearches: Readonly<Record<StoredKind, Searchable<StoredResource, ResourceFilters>>> = {
  Client: storedSearch('Client', {
    id: (text) => ({ id: text }),
    name: (text) => ({ name: text }),
    active: (text, name) => ({ active: readWord(name, text, ['true', 'false']) === 'true' }),
    grant_types: (text, name) => ({ grantType: readWord(name, text, GRANT_TYPES) }),
  }),
  AccessPolicy: storedSearch('AccessPolicy', {
    id: (text) => ({ id: text }),
    engine: (text, name) => ({ engine: readWord(name, text, ENGINES) }),
    subjects: (text, name) => ({ subjects: readWord(name, text, SUBJECTS) }),
    link: (text, name) => ({ link: readLink(text, name) }),
  }),
};

function storedSearch(
  kind: StoredKind,
  filters: SearchDefinition<ResourceFilters>['filters'],
): Searchable<StoredResource, ResourceFilters> {
  return searchable(resourceListing(kind), { ...common, elements: storedElements[kind], filters });
}

function readLink(text: string, name: string): ResourceFilters['link'] {
  const slash = text.indexOf('/');
  const resourceType = LINK_TYPES.find((type) => type === text.slice(0, slash));
  if (resourceType === undefined)
    throw refusedParameter(name, `must be one of ${LINK_TYPES.join(', ')}, a slash and an id`);
  return { resourceType, id: text.slice(slash + 1) };
}
