import { ENGINES, SUBJECTS } from '../../crds/access-policy.ts';
import { LINK_TYPES } from '../../crds/links.ts';
import type { ResourceFilters } from '../db/resource/search.ts';
import { readWord, refusedParameter } from './search/values.ts';
import { defineStored } from './stored.ts';

/** Access policies. */
export const accessPolicy = defineStored('AccessPolicy', {
  id: (text) => ({ id: text }),
  engine: (text, name) => ({ engine: readWord(name, text, ENGINES) }),
  subjects: (text, name) => ({ subjects: readWord(name, text, SUBJECTS) }),
  link: (text, name) => ({ link: readLink(text, name) }),
});

function readLink(text: string, name: string): ResourceFilters['link'] {
  const slash = text.indexOf('/');
  const resourceType = LINK_TYPES.find((type) => type === text.slice(0, slash));
  if (resourceType === undefined)
    throw refusedParameter(name, `must be one of ${LINK_TYPES.join(', ')}, a slash and an id`);
  return { resourceType, id: text.slice(slash + 1) };
}
