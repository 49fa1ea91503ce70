import { auditEventsBefore } from './audit/audit-events-before.ts';
import type { StoredAuditEvent } from './audit/audit-event.ts';
import { batchBounds } from './core/batch-bounds.ts';
import type { FirstPageOfBox, FirstPageResult } from './core/first-page.ts';
import { newestPagesOf } from './core/newest-pages.ts';
import type { ReadNewestPage } from './core/newest-pages.ts';
import type { Connections } from './core/pool.ts';
import { batchesOn } from './core/statement-batches.ts';
import { firstResources } from './resource/first-resources.ts';
import type { FirstResourcesOfBox } from './resource/first-resources.ts';
import type { StoredResource } from './resource/resource.ts';
import { sessionsBefore } from './session/sessions-before.ts';
import type { NewestSessionsOfBox } from './session/sessions-before.ts';
import type { SessionRecord } from './session/record.ts';
import { grantsAfter } from './user/grants-after.ts';
import type { GrantsOfBox } from './user/grants-after.ts';
import { firstGroups } from './user/first-groups.ts';
import { firstUsers } from './user/first-users.ts';
import type { StoredGrant } from './user/grant.ts';
import type { StoredGroup } from './user/group.ts';
import type { ListedUser } from './user/user-search.ts';

/** Reads the first page of one list. Throws Outage. */
export type ReadFirstPage<Row, Search = FirstPageOfBox> = (search: Search) => Promise<FirstPageResult<Row>>;

/**
 * First pages of lists, in the order of the IDs. Of sessions and records of the audit trail, newest first, and of
 * grants further pages too.
 */
export interface FirstPages {
  readonly resources: ReadFirstPage<StoredResource, FirstResourcesOfBox>;
  readonly users: ReadFirstPage<ListedUser>;
  readonly groups: ReadFirstPage<StoredGroup>;
  readonly grants: ReadFirstPage<StoredGrant, GrantsOfBox>;
  readonly sessions: ReadNewestPage<SessionRecord, NewestSessionsOfBox>;
  readonly auditEvents: ReadNewestPage<StoredAuditEvent>;
}

/** Rows of the longest page that is read with others. */
export const longestFirstPage = 100;

/** Pages of one statement: each has at most 32 KB of content. One statement of each list is in flight. */
const bounds = { ...batchBounds, size: 8, inFlight: 1 };

/** The same for lists whose statements are planned for each partition: more pages, with 16 KB each, share that. */
const boundsOfNewest = { ...bounds, size: 16 };

/** The same for pages of few rows. */
const boundsOfShort = { ...bounds, size: 32 };

/** The same for pages of which up to 10,000 rows are counted, once for all pages of a box. */
const boundsOfCounting = { ...boundsOfNewest, boxes: 4 };

/** Reads first pages in micro-batches on a pool; `now` in milliseconds since 1970. */
export function createFirstPages(pool: Connections, now: () => number): FirstPages {
  const runner = batchesOn(pool, bounds);
  const newest = {
    short: batchesOn(pool, boundsOfShort),
    together: batchesOn(pool, boundsOfNewest),
    counting: batchesOn(pool, boundsOfCounting),
  };
  return {
    resources: runner(firstResources),
    users: runner(firstUsers),
    groups: runner(firstGroups),
    grants: newest.together(grantsAfter),
    sessions: newestPagesOf(newest, now, sessionsBefore),
    auditEvents: newestPagesOf(newest, now, auditEventsBefore),
  };
}
