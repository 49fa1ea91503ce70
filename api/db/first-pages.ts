import { batchBounds } from './core/batch-bounds.ts';
import type { FirstPageOfBox, FirstPageResult } from './core/first-page.ts';
import type { Connections } from './core/pool.ts';
import { batchesOn } from './core/statement-batches.ts';
import { firstResources } from './resource/first-resources.ts';
import type { FirstResourcesOfBox } from './resource/first-resources.ts';
import type { StoredResource } from './resource/resource.ts';
import { firstGroups } from './user/first-groups.ts';
import { firstUsers } from './user/first-users.ts';
import type { StoredGroup } from './user/group.ts';
import type { ListedUser } from './user/user-search.ts';

/** Reads the first page of one list. Throws Outage. */
export type ReadFirstPage<Row, Search = FirstPageOfBox> = (search: Search) => Promise<FirstPageResult<Row>>;

/** First pages of the lists whose rows are counted as they change, in the order of the IDs. */
export interface FirstPages {
  readonly resources: ReadFirstPage<StoredResource, FirstResourcesOfBox>;
  readonly users: ReadFirstPage<ListedUser>;
  readonly groups: ReadFirstPage<StoredGroup>;
}

/** Rows of the longest page that is read with others. */
export const longestFirstPage = 100;

/** Pages of one statement: each has at most 32 KB of content. One statement of each list is in flight. */
const bounds = { ...batchBounds, size: 8, inFlight: 1 };

/** Reads first pages in micro-batches on a pool. */
export function createFirstPages(pool: Connections): FirstPages {
  const runner = batchesOn(pool, bounds);
  return { resources: runner(firstResources), users: runner(firstUsers), groups: runner(firstGroups) };
}
